import { useState } from "react";

import { visible } from "../words/visible";

const MOST_CHARS = 280;
const MOST_LINES = 4;

/** Somebody else's words, of which a long text shows its beginning: it must not push away what stands below it. */
export function Folded({ text, keep = "" }: { text: string; keep?: string }) {
  const [open, setOpen] = useState(false);
  const start = beginningOf(text);
  if (start.length === text.length) return visible(text, keep);
  return (
    <>
      {visible(open ? text : start, keep)}
      {!open && "… "}{" "}
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="rounded text-xs font-normal text-accent not-italic underline underline-offset-2">
        {open ? "Show less" : `Show all ${text.length.toLocaleString()} characters`}
      </button>
    </>
  );
}

export function beginningOf(text: string): string {
  return text.split("\n").slice(0, MOST_LINES).join("\n").slice(0, MOST_CHARS);
}
