import { useSyncExternalStore } from "react";

import { useMatches } from "../ui/matches";

export type Layout = "unified" | "split";

const KEY = "handrail.diff";
const CHANGED = "handrail:diff";
// Beside the list, each side has room for half a line of code.
const WIDE = "(min-width: 75rem)";

/** How diffs are drawn in this browser: side by side only where there is room for it. */
export function useLayout(): { layout: Layout; mayChoose: boolean } {
  const mayChoose = useMatches(WIDE);
  const kept = useSyncExternalStore(watch, () => localStorage.getItem(KEY));
  return { layout: mayChoose && kept === "split" ? "split" : "unified", mayChoose };
}

export function setLayout(layout: Layout): void {
  localStorage.setItem(KEY, layout);
  window.dispatchEvent(new Event(CHANGED));
}

function watch(changed: () => void): () => void {
  window.addEventListener(CHANGED, changed);
  window.addEventListener("storage", changed);
  return () => {
    window.removeEventListener(CHANGED, changed);
    window.removeEventListener("storage", changed);
  };
}
