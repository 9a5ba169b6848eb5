import { useEffect, useState, type RefObject } from "react";

const A_MOMENT_MS = 600;
const ENOUGH_PX = 72;

/**
 * Whether a card has been seen for a moment, and is still in sight: on a visible screen, under no dialog, with its
 * evidence and its buttons within the window. From the start again for each card, and when it was out of sight.
 */
export function useIsSeen(cardId: string, parts: RefObject<HTMLElement | null>[]): { seen: boolean; inSight: boolean } {
  const [seen, setSeen] = useState("");
  const [inSight, setInSight] = useState(true);
  useEffect(() => {
    const hidden = new Set<Element>();
    let timer = 0;
    const begin = () => {
      window.clearTimeout(timer);
      setInSight(hidden.size === 0);
      if (hidden.size > 0 || document.visibilityState !== "visible") setSeen("");
      // What was seen before a dialog came over it stays so: behind its own dialog a card is known.
      else if (!document.querySelector("[role=dialog]")) timer = window.setTimeout(() => setSeen(cardId), A_MOMENT_MS);
    };
    const sight = new IntersectionObserver(
      (changed) => {
        const before = hidden.size;
        for (const one of changed) {
          const enough = one.intersectionRect.height >= Math.min(ENOUGH_PX, one.boundingClientRect.height) - 1;
          if (enough) hidden.delete(one.target);
          else hidden.add(one.target);
        }
        if (hidden.size !== before) begin();
      },
      { threshold: Array.from({ length: 21 }, (_, index) => index / 20) },
    );
    for (const { current } of parts) if (current) sight.observe(current);
    // Dialogs are put into the body itself.
    const cover = new MutationObserver(begin);
    cover.observe(document.body, { childList: true });
    begin();
    document.addEventListener("visibilitychange", begin);
    return () => {
      window.clearTimeout(timer);
      sight.disconnect();
      cover.disconnect();
      document.removeEventListener("visibilitychange", begin);
    };
  }, [cardId]);
  return { seen: seen === cardId, inSight };
}
