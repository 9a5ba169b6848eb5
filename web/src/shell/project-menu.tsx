import { Check, ChevronsUpDown } from "lucide-react";

import { useProjects, useSession, useSwitch } from "../api/session";
import { go } from "../router";
import { ITEM, Menu } from "../ui/menu";
import { visible } from "../words/visible";
import { Waiting } from "./waiting";

/** The name of the current project; its menu lists all projects, and how many requests wait in each. */
export function ProjectMenu({ page }: { page: string }) {
  const { project } = useSession();
  const change = useSwitch();
  const projects = useProjects();
  const others = projects.filter((one) => one.project_id !== project.project_id);
  const name = (
    <span className="truncate" title={visible(project.name)}>
      {visible(project.name)}
    </span>
  );
  if (others.length === 0) return <span className="flex min-w-0 max-md:hidden">{name}</span>;
  return (
    <Menu
      side="above"
      className="max-h-[60dvh] overflow-auto max-md:top-full max-md:right-0 max-md:bottom-auto max-md:left-auto max-md:w-56 md:w-44"
      trigger={(button) => (
        <button type="button" {...button} className="flex w-full min-w-0 items-center gap-1.5 rounded-md py-1 hover:text-ink max-md:max-w-32">
          <span className="sr-only">Project: </span>
          {name}
          <ChevronsUpDown size={12} className="shrink-0" aria-hidden />
          <Waiting count={others.reduce((sum, one) => sum + one.waiting, 0)} what="waiting in other projects" />
        </button>
      )}
    >
      {projects.map((one) => (
        <button
          key={one.project_id}
          type="button"
          role="menuitem"
          aria-current={one.project_id === project.project_id ? "true" : undefined}
          className={`flex items-center gap-2 ${ITEM}`}
          onClick={() => {
            if (one.project_id === project.project_id) return;
            // The id in the address belongs to the project that is left.
            go(`/${page}`);
            change(one.project_id);
          }}
        >
          <Check size={14} className={`shrink-0 ${one.project_id === project.project_id ? "" : "invisible"}`} aria-hidden />
          <span className="truncate">{visible(one.name)}</span>
          <Waiting count={one.waiting} />
        </button>
      ))}
    </Menu>
  );
}
