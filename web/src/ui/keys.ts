import { useEffect } from "react";

const TYPING = "input, textarea, select, [contenteditable=true], [role=dialog], [role=menu], [role=listbox]";

/** Single keys that do something; dead while somebody types, in dialogs and menus, and with modifiers. */
export function useKeys(keys: Record<string, (() => void) | undefined>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.repeat || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(TYPING)) return;
      if (document.querySelector("[role=dialog], [role=menu]")) return;
      const action = keys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [keys]);
}
