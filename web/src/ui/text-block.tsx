import { visible } from "../words/visible";

/** Somebody else's text as it was written: its lines stay, what is unseen is seen. */
export function TextBlock({ text, label }: { text: string; label: string }) {
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="mt-2 max-h-[60dvh] overflow-auto rounded-md border border-line bg-bg p-3 font-mono text-[12.5px] leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {visible(text, "\n\t")}
    </pre>
  );
}
