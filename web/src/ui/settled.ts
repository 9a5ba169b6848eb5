import { useEffect, useState } from "react";

const A_MOMENT_MS = 150;

/** What somebody types, once the hands rest for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), A_MOMENT_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return settled;
}
