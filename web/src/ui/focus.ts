import { useEffect, type RefObject } from "react";

let hadFocus = false;
document.addEventListener("focusin", () => (hadFocus = true));

/** Takes the focus where what had it is gone: whoever goes by keys or ears goes on from here. */
export function useLostFocus(part: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (hadFocus && document.activeElement === document.body) part.current?.focus({ preventScroll: true });
  }, []);
}
