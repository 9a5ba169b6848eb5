import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

/** Something to know before anything else. */
export function Warning({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <p className={`flex gap-2 rounded-md border border-medium/40 bg-medium/10 px-3 py-2 [overflow-wrap:anywhere] ${className}`}>
      <TriangleAlert size={16} className="mt-0.5 shrink-0 text-medium" aria-hidden />
      <span>{children}</span>
    </p>
  );
}
