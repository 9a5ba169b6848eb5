import { Check } from "lucide-react";

import { useProjects, useSession, useSwitch } from "../api/session";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { visible } from "../words/visible";

/** Shown when no request is open in this project, with links to projects where one is. */
export function NothingWaits() {
  const { project } = useSession();
  const change = useSwitch();
  const others = useProjects().filter((one) => one.waiting > 0 && one.project_id !== project.project_id);
  return (
    <Empty icon={<Check size={20} />} title={others.length ? "Nothing is waiting for you in this project" : "Nothing is waiting for you"}>
      Requests that need your approval appear here at once. You can leave this page open.
      {others.map((one) => (
        <Button key={one.project_id} className="mt-4 w-full justify-center" onClick={() => change(one.project_id)}>
          <span className="truncate">
            {one.waiting} waiting in {visible(one.name)}
          </span>
        </Button>
      ))}
    </Empty>
  );
}
