import { Check } from "lucide-react";

import { useProjects, useSession, useSwitch } from "../api/session";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { visible } from "../words/visible";

/** Nothing waits in this project; where something does, it leads there. */
export function NothingWaits() {
  const { project } = useSession();
  const change = useSwitch();
  const others = useProjects().filter((one) => one.waiting > 0 && one.project_id !== project.project_id);
  return (
    <Empty icon={<Check size={20} />} title={others.length ? "Nothing waits for you in this project" : "Nothing waits for you"}>
      When an agent wants something that needs your word, it appears here at once. You can leave this page open.
      {others.map((one) => (
        <Button key={one.project_id} className="mt-4 w-full justify-center" onClick={() => change(one.project_id)}>
          <span className="truncate">
            {one.waiting} {one.waiting === 1 ? "waits" : "wait"} in {visible(one.name)}
          </span>
        </Button>
      ))}
    </Empty>
  );
}
