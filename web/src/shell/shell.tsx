import { useEffect, type ReactNode } from "react";

import { useLine } from "../api/stream";
import { usePending } from "../approvals/pending";
import { usePage, usePages } from "../pages";
import { Link } from "../router";
import mark from "../ui/mark.svg";
import { PagesMenu } from "./pages-menu";
import { ProjectMenu } from "./project-menu";
import { Told } from "./told";
import { PageCount } from "./waiting";

export function Shell({ children }: { children: ReactNode }) {
  const here = usePage();
  const pages = usePages();
  const waiting = usePending().length;
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ""}${here.title} · Handrail`;
  }, [here.title, waiting]);
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
      <nav aria-label="Pages" className="flex items-center gap-0.5 border-line p-2 max-md:border-b md:flex-col md:items-stretch md:overflow-y-auto md:border-r md:p-3">
        <div className="flex items-center gap-2 px-2 font-semibold tracking-tight md:mb-4 md:pt-1">
          <img src={mark} alt="" className="size-6" />
          <span className="max-md:sr-only">Handrail</span>
        </div>
        <PagesMenu here={here} waiting={waiting} className="md:hidden" />
        <ul className="space-y-0.5 max-md:hidden">
          {pages.map(({ name, title, Icon }) => (
            <li key={name}>
              <Link
                href={`/${name}`}
                aria-current={name === here.name ? "page" : undefined}
                className={`flex items-center gap-2.5 rounded-md px-2 py-1.5 ${name === here.name ? "bg-raised font-medium" : "text-soft hover:bg-raised/60"}`}
              >
                <Icon size={15} aria-hidden />
                {title}
                <PageCount page={name} />
              </Link>
            </li>
          ))}
        </ul>
        <div className="ml-auto flex min-w-0 gap-1 px-2 py-1.5 text-xs text-soft max-md:items-center max-md:gap-3 md:mt-auto md:ml-0 md:flex-col">
          <ProjectMenu page={here.name} />
          <LineState />
        </div>
      </nav>
      <Told />
      <div id="main" tabIndex={-1} className="min-h-0 min-w-0 outline-none">
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
