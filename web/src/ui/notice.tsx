import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

/** Something to know before going on, in a box of its own. */
export function Notice({ bad = false, children }: { bad?: boolean; children: ReactNode }) {
  const look = bad ? "border-critical/40 bg-del" : "border-medium/40 bg-medium/10";
  return (
    <div role={bad ? "alert" : "note"} className={`flex gap-2 rounded-md border px-3 py-2 [overflow-wrap:anywhere] ${look}`}>
      <TriangleAlert size={16} className={`mt-0.5 shrink-0 ${bad ? "text-critical" : "text-medium"}`} aria-hidden />
      <div className="min-w-0">{children}</div>
    </div>
  );
}
