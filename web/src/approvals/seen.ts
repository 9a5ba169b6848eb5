import { useEffect, useState } from "react";

const A_MOMENT_MS = 600;

/** Whether a card has been on a visible screen for a moment; from the start again for each card. */
export function useIsSeen(cardId: string): boolean {
  const [seen, setSeen] = useState("");
  useEffect(() => {
    let timer = 0;
    const begin = () => {
      window.clearTimeout(timer);
      if (document.visibilityState === "visible") timer = window.setTimeout(() => setSeen(cardId), A_MOMENT_MS);
      else setSeen("");
    };
    begin();
    document.addEventListener("visibilitychange", begin);
    return () => {
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", begin);
    };
  }, [cardId]);
  return seen === cardId;
}
