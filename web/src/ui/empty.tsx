import type { ReactNode } from "react";

/** What is shown where there is nothing, or nothing yet. */
export function Empty({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className="grid h-full place-items-center p-8 text-center">
      <div className="max-w-sm">
        <div className="mx-auto mb-3 grid size-11 place-items-center rounded-full bg-raised text-soft" aria-hidden>
          {icon}
        </div>
        <p className="font-medium">{title}</p>
        <div className="mt-1 text-soft">{children}</div>
      </div>
    </div>
  );
}
