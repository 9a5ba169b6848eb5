import type { ReactNode } from "react";

/** One quiet word about something. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className="inline-flex shrink-0 items-center gap-1 rounded border border-line bg-raised px-1.5 text-xs leading-5 text-soft">{children}</span>;
}
