import type { ReactNode } from "react";

/** A page to read: its name, a sentence of what it is, and what belongs to all of it. */
export function Page({ title, about, tools, children }: { title: string; about?: ReactNode; tools?: ReactNode; children: ReactNode }) {
  return (
    // Room for the scroll bar is kept, so that nothing moves when the page grows.
    <main className="h-full overflow-y-auto [scrollbar-gutter:stable]">
      <div className="mx-auto flex min-h-full max-w-5xl flex-col px-4 py-5 md:px-8 md:py-7">
        <header className="mb-5 flex flex-wrap items-end gap-x-6 gap-y-3">
          <div className="min-w-0 flex-1 basis-72">
            <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
            {about && <p className="text-soft">{about}</p>}
          </div>
          {tools}
        </header>
        {children}
      </div>
    </main>
  );
}
