import { useEffect, useRef, useState, type RefObject } from "react";

export const A_MOMENT_MS = 600;
const ENOUGH_PX = 72;

type Part = RefObject<HTMLElement | null>;

interface Sight {
  /** What holds the buttons: wherever it moves, it has to be found again. */
  bar: Part;
  /** Has to be in sight beside it. */
  evidence: Part;
  /** Has to have been in sight, where it may be far above. */
  title?: Part | undefined;
}

/**
 * Whether a card has been seen for a moment, and is still in sight: in a window that has the focus, under no dialog,
 * with its evidence and its buttons within the window, in the place where they were. From the start again for each card.
 */
export function useIsSeen(cardId: string, { bar, evidence, title }: Sight): { seen: boolean; inSight: boolean } {
  const [seen, setSeen] = useState("");
  const [inSight, setInSight] = useState(true);
  const place = useRef("");
  useEffect(() => {
    const hidden = new Set<Element>();
    let timer = 0;
    const begin = () => {
      window.clearTimeout(timer);
      place.current = placeOf(bar);
      setInSight(hidden.size === 0);
      if (hidden.size > 0 || document.visibilityState !== "visible" || !document.hasFocus()) setSeen("");
      // What was seen before a dialog came over it stays so: behind its own dialog a card is known.
      else if (!document.querySelector("dialog")) timer = window.setTimeout(() => setSeen(cardId), A_MOMENT_MS);
    };
    const restart = () => {
      setSeen("");
      begin();
    };
    // A click that was meant for what stood here before must not fall on this.
    const isMoved = () => placeOf(bar) !== place.current;
    const move = () => {
      if (isMoved() && !document.querySelector("dialog")) restart();
    };
    const sight = new IntersectionObserver(
      (changed) => {
        const before = hidden.size;
        for (const one of changed) {
          const enough = one.intersectionRect.height >= Math.min(ENOUGH_PX, one.boundingClientRect.height) - 1;
          if (!enough) hidden.add(one.target);
          else {
            hidden.delete(one.target);
            if (one.target === title?.current) sight.unobserve(one.target);
          }
        }
        if (hidden.size !== before) begin();
      },
      { threshold: Array.from({ length: 21 }, (_, index) => index / 20) },
    );
    for (const part of [bar, evidence, title]) if (part?.current) sight.observe(part.current);
    const sizes = new ResizeObserver(move);
    for (let one: Element | null = bar.current; one; one = one.parentElement) sizes.observe(one);
    // Dialogs are put into the body itself.
    const cover = new MutationObserver(() => (isMoved() ? restart() : begin()));
    cover.observe(document.body, { childList: true });
    begin();
    document.addEventListener("visibilitychange", begin);
    document.addEventListener("scroll", move, { capture: true, passive: true });
    window.addEventListener("focus", begin);
    window.addEventListener("blur", restart);
    return () => {
      window.clearTimeout(timer);
      sight.disconnect();
      sizes.disconnect();
      cover.disconnect();
      document.removeEventListener("visibilitychange", begin);
      document.removeEventListener("scroll", move, { capture: true });
      window.removeEventListener("focus", begin);
      window.removeEventListener("blur", restart);
    };
  }, [cardId]);
  return { seen: seen === cardId, inSight };
}

function placeOf(part: Part): string {
  const box = part.current?.getBoundingClientRect();
  // The end of it stays where its buttons are, also while a word of trouble stands above them.
  return box ? `${Math.round(box.left)} ${Math.round(box.bottom)}` : "";
}
