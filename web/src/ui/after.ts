import { useEffect, useState } from "react";

/** False at first, true after so long. */
export function useAfter(ms: number): boolean {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setIsOver(true), ms);
    return () => window.clearTimeout(timer);
  }, [ms]);
  return isOver;
}
