import { useQuery } from "@tanstack/react-query";
import { MonitorSmartphone } from "lucide-react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { ClientsResponse, ClientView } from "../api/types";
import { Answer } from "../ui/answer";
import { Code } from "../ui/code";
import { Empty } from "../ui/empty";
import { List } from "../ui/list";
import { Page } from "../ui/page";
import { MachineRow } from "./row";

const LOOK_EVERY_MS = 5_000;

/** The machines that run calls, their folders and their sandboxes. */
export default function MachinesPage() {
  const path = usePath();
  const machines = useQuery({
    queryKey: ["clients", path("")],
    queryFn: () => ask<ClientsResponse>("GET", path("/clients")),
    refetchInterval: LOOK_EVERY_MS,
  });
  return (
    <Page title="Machines" about="Machines that run calls. A call waits until the machine of its folder is connected.">
      <Answer to={machines}>
        {({ clients }) =>
          clients.length === 0 ? (
            <Empty icon={<MonitorSmartphone size={20} />} title="No machine is registered">
              Run <Code>handrail connect</Code> in the folder where the agent should work.
            </Empty>
          ) : (
            <List label="Machines">
              {[...clients].sort(byPresence).map((one) => (
                <MachineRow key={one.client_id} machine={one} />
              ))}
            </List>
          )
        }
      </Answer>
    </Page>
  );
}

/** Connected machines first, then the last seen. */
function byPresence(one: ClientView, other: ClientView): number {
  const here = Number(other.connected) - Number(one.connected);
  return here || (other.left_at ?? "").localeCompare(one.left_at ?? "") || other.registered_at.localeCompare(one.registered_at);
}
