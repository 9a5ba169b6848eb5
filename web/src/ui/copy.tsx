import { Check, Copy as Icon } from "lucide-react";
import { useEffect, useState } from "react";

const SHOWN_MS = 1_500;

/** Takes a text along just as it is shown. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = window.setTimeout(() => setDone(false), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [done]);
  return (
    <button
      type="button"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setDone(true))}
      className="inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs text-soft hover:bg-raised hover:text-ink"
    >
      {done ? <Check size={12} aria-hidden /> : <Icon size={12} aria-hidden />}
      <span role="status">{done ? "Copied" : "Copy"}</span>
      <span className="sr-only"> {what}</span>
    </button>
  );
}
