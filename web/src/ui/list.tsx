import type { ReactNode } from "react";

/** Rows that belong together. */
export function List({ children, label }: { children: ReactNode; label: string }) {
  return (
    <ul aria-label={label} className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-panel">
      {children}
    </ul>
  );
}
