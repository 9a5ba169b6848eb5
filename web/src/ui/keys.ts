import { useEffect } from "react";

const TYPING = "input, textarea, select, [contenteditable=true], dialog, [role=menu], [role=listbox]";
const MODIFIERS = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

/** Keys that come closer than this belong to words that somebody types. */
const APART_MS = 400;
const QUIET_MS = 250;

// Wherever they were typed: the end of a sentence may reach the page when its dialog has gone.
let [previous, latest] = [-Infinity, -Infinity];
window.addEventListener(
  "keydown",
  (event) => {
    if (!MODIFIERS.has(event.key)) [previous, latest] = [latest, event.timeStamp];
  },
  true,
);

/**
 * When a key counts: whenever it is `pressed`; if it comes `apart` from those before it; or if it stands `alone`,
 * with no other key before or behind it, as in the terminal.
 */
type Rule = "pressed" | "apart" | "alone";

/** Single keys that do something; dead while somebody types, in dialogs and menus, and with modifiers. */
export function useKeys(keys: Record<string, (() => void) | undefined>, rule: Rule = "pressed"): void {
  useEffect(() => {
    let timer = 0;
    const pressed = (event: KeyboardEvent) => {
      if (MODIFIERS.has(event.key)) return;
      window.clearTimeout(timer);
      if (event.metaKey || event.ctrlKey || event.altKey || event.repeat || event.isComposing || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(TYPING)) return;
      if (isCovered()) return;
      // With Caps Lock they are the same keys.
      const action = keys[event.key] ?? (event.shiftKey ? undefined : keys[event.key.toLowerCase()]);
      if (!action || (rule !== "pressed" && latest - previous < APART_MS)) return;
      event.preventDefault();
      if (rule === "alone") timer = window.setTimeout(() => !isCovered() && action(), QUIET_MS);
      else action();
    };
    window.addEventListener("keydown", pressed);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("keydown", pressed);
    };
  }, [keys, rule]);
}

function isCovered(): boolean {
  return document.querySelector("dialog, [role=menu]") !== null;
}
