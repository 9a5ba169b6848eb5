import { ChartColumn, Inbox } from "lucide-react";
import type { ReactNode } from "react";

import { useSession } from "../api/session";
import { useLine } from "../api/stream";
import { usePending } from "../approvals/pending";
import { Link, usePlace } from "../router";
import mark from "../ui/mark.svg";

const PAGES = [
  { page: "approvals", title: "Approvals", Icon: Inbox },
  { page: "analytics", title: "Analytics", Icon: ChartColumn },
];

export function Shell({ children }: { children: ReactNode }) {
  const { page } = usePlace();
  const { project } = useSession();
  const waiting = usePending().length;
  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)] md:grid-cols-[13rem_minmax(0,1fr)] md:grid-rows-1">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-40 focus:bg-panel focus:p-2"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the page
      </a>
      <nav aria-label="Pages" className="flex items-center gap-0.5 overflow-x-auto border-line p-2 max-md:border-b md:flex-col md:items-stretch md:border-r md:p-3">
        <div className="flex items-center gap-2 px-2 font-semibold tracking-tight md:mb-4 md:pt-1">
          <img src={mark} alt="" className="size-6" />
          <span className="max-md:sr-only">Handrail</span>
        </div>
        {PAGES.map(({ page: name, title, Icon }) => (
          <Link
            key={name}
            href={`/${name}`}
            aria-current={name === page ? "page" : undefined}
            className={`flex items-center gap-2.5 rounded-md px-2 py-1.5 ${name === page ? "bg-raised font-medium" : "text-soft hover:bg-raised/60"}`}
          >
            <Icon size={15} aria-hidden />
            {title}
            {name === "approvals" && waiting > 0 && (
              <span className="ml-auto rounded-full bg-accent px-1.5 text-[11px] font-medium text-on-accent">
                {waiting}
                <span className="sr-only"> waiting</span>
              </span>
            )}
          </Link>
        ))}
        <div className="ml-auto flex flex-col gap-1 px-2 py-1.5 text-xs text-soft md:mt-auto md:ml-0">
          <span className="truncate max-md:hidden" title={project.name}>
            {project.name}
          </span>
          <LineState />
        </div>
      </nav>
      <div id="main" tabIndex={-1} className="min-h-0 outline-none">
        {children}
      </div>
    </div>
  );
}

function LineState() {
  const line = useLine();
  const [colour, words] = {
    live: ["bg-low", "Live"],
    connecting: ["bg-medium", "Connecting…"],
    lost: ["bg-critical", "Reconnecting…"],
  }[line] as [string, string];
  return (
    <span role="status" className="flex items-center gap-2">
      <span className={`size-1.5 rounded-full ${colour}`} aria-hidden />
      {words}
    </span>
  );
}
