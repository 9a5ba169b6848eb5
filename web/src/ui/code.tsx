import { visible } from "../words/visible";

/** Somebody else's text in a monospaced line: unseen characters are seen, and nothing in it acts. */
export function Code({ children, className = "" }: { children: string; className?: string }) {
  return <code className={`font-mono text-[0.92em] [overflow-wrap:anywhere] ${className}`}>{visible(children)}</code>;
}
