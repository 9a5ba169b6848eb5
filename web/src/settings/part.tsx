import type { ReactNode } from "react";

/** One section of the settings page. */
export function Part({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  return (
    <section aria-label={title} className="rounded-lg border border-line bg-panel px-4 py-4">
      <h2 className="font-medium">{title}</h2>
      {about && <div className="text-soft">{about}</div>}
      {children}
    </section>
  );
}
