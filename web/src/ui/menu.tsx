import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

interface Props {
  /** The button that opens it; gets what it needs to say so. */
  trigger: (button: { "aria-haspopup": "menu"; "aria-expanded": boolean; "aria-controls": string; onClick: () => void }) => ReactNode;
  /** Where it opens, seen from the button. */
  side?: "above" | "below";
  align?: "start" | "end";
  className?: string;
  /** Elements with the role `menuitem`, each made to close the menu. */
  children: ReactNode;
}

const MOVES: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at <= 0 ? count : at) - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** A menu as keyboards and screen readers know it: arrows move, Escape and everything outside closes. */
export function Menu({ trigger, side = "below", align = "start", className = "", children }: Props) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const id = useId();
  const items = () => [...(place.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const close = () => {
    setOpen(false);
    place.current?.querySelector<HTMLElement>("[aria-haspopup]")?.focus();
  };
  useEffect(() => {
    if (!open) return;
    items()[0]?.focus();
    const leave = (event: Event) => !place.current?.contains(event.target as Node) && setOpen(false);
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [open]);
  const pressed = (event: KeyboardEvent) => {
    const [move, all] = [MOVES[event.key], items()];
    if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else if (move) all[move(all.indexOf(document.activeElement as HTMLElement), all.length)]?.focus();
    if (move || event.key === "Escape") event.preventDefault();
  };
  return (
    <div ref={place} className="relative">
      {trigger({ "aria-haspopup": "menu", "aria-expanded": open, "aria-controls": id, onClick: () => setOpen(!open) })}
      {open && (
        <div
          id={id}
          role="menu"
          onKeyDown={pressed}
          onClick={() => setOpen(false)}
          className={`absolute z-20 max-w-[calc(100vw-2rem)] rounded-lg border border-line bg-panel p-1 shadow-xl ${side === "above" ? "bottom-full mb-1.5" : "top-full mt-1.5"} ${align === "start" ? "left-0" : "right-0"} ${className}`}
        >
          {children}
        </div>
      )}
    </div>
  );
}

/** How an item looks, also when it is a link. */
export const ITEM = "w-full cursor-pointer rounded-md px-3 py-2 text-left outline-none hover:bg-raised focus-visible:bg-raised";
