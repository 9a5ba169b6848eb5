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

/** Where calls are executed: which machines are here, in which folder, and what keeps commands in there. */
export default function MachinesPage() {
  const path = usePath();
  const machines = useQuery({
    queryKey: ["clients", path("")],
    queryFn: () => ask<ClientsResponse>("GET", path("/clients")),
    refetchInterval: LOOK_EVERY_MS,
  });
  return (
    <Page title="Machines" about="Where calls are executed. A call waits until the machine of its folder is here.">
      <Answer to={machines}>
        {({ clients }) =>
          clients.length === 0 ? (
            <Empty icon={<MonitorSmartphone size={20} />} title="No machine is registered">
              In the folder an agent shall work in, type <Code>handrail connect</Code>.
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

/** Those that are here, then those that left last. */
function byPresence(one: ClientView, other: ClientView): number {
  const here = Number(other.connected) - Number(one.connected);
  return here || (other.left_at ?? "").localeCompare(one.left_at ?? "") || other.registered_at.localeCompare(one.registered_at);
}
