import { useEffect, useRef, useState, type RefObject } from "react";

const NEAR_PX = 80;

/** The end, but never past the beginning of an open request: it must be seen before it is decided. */
function goalOf(outer: HTMLElement): number {
  const end = outer.scrollHeight - outer.clientHeight;
  const question = outer.querySelector("[data-waits]");
  if (!question) return end;
  const above = question.getBoundingClientRect().top - outer.getBoundingClientRect().top;
  return Math.min(end, outer.scrollTop + above);
}

/** Scrolls along with the end, unless the reader has scrolled away from it. */
export function useFollow(): { scroller: RefObject<HTMLDivElement | null>; inner: RefObject<HTMLDivElement | null>; isAtEnd: boolean; toEnd: () => void } {
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = () => {
    following.current = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  };
  useEffect(() => {
    const [outer, content] = [scroller.current, inner.current];
    if (!outer || !content) return;
    const scrolled = () => {
      following.current = goalOf(outer) - outer.scrollTop < NEAR_PX;
      setIsAtEnd(following.current);
    };
    const grown = new ResizeObserver(() => following.current && outer.scrollTo({ top: goalOf(outer) }));
    grown.observe(content);
    outer.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      grown.disconnect();
      outer.removeEventListener("scroll", scrolled);
    };
  }, []);
  return { scroller, inner, isAtEnd, toEnd };
}
