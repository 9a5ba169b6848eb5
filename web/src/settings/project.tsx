import { useProjects, useSession, useSwitch } from "../api/session";
import { visible } from "../words/visible";
import { Part } from "./part";

export function ProjectPart() {
  const { project } = useSession();
  const projects = useProjects();
  const change = useSwitch();
  return (
    <Part title="Project" about="The project shown on these pages.">
      <label>
        <span className="sr-only">Project</span>
        <select value={project.project_id} onChange={(event) => change(event.target.value)} className="mt-2 block w-full max-w-sm rounded-md border border-line bg-bg p-1.5">
          {projects.map((one) => (
            <option key={one.project_id} value={one.project_id}>
              {visible(one.name)}
            </option>
          ))}
        </select>
      </label>
    </Part>
  );
}
