import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useCallback, useState } from "react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import { useEvent } from "../api/stream";
import type { GrantsResponse, GrantView } from "../api/types";
import { Answer } from "../ui/answer";
import { Empty } from "../ui/empty";
import { List } from "../ui/list";
import { Page } from "../ui/page";
import { several } from "../words/number";
import { GrantRow } from "./row";

// No event says that a grant was used.
const LOOK_EVERY_MS = 5_000;

/** The answers that were given ahead, and still let calls pass. */
export default function GrantsPage() {
  const path = usePath();
  const queries = useQueryClient();
  const [said, setSaid] = useState("");
  const grants = useQuery({
    queryKey: ["grants", path("")],
    queryFn: () => ask<GrantsResponse>("GET", path("/grants")),
    refetchInterval: LOOK_EVERY_MS,
  });
  const lookAgain = useCallback(() => void queries.invalidateQueries({ queryKey: ["grants"] }), [queries]);
  useEvent("approval.resolved", lookAgain);
  return (
    <Page title="Grants" about="Calls that run without asking you, because you approved them in advance. Revoke a grant, and its calls ask again.">
      <p role="status" className={said ? "mb-3 text-soft" : "sr-only"}>
        {said}
      </p>
      <Answer to={grants}>
        {({ grants: given }) =>
          given.length === 0 ? (
            <Empty icon={<KeyRound size={20} />} title="No grants">
              Every call that needs approval asks you. “Approve more” on a card approves its class in advance; the grant is then listed here.
            </Empty>
          ) : (
            <Grants given={given} onSaid={setSaid} />
          )
        }
      </Answer>
    </Page>
  );
}

/** Grants of idle sessions are folded away: they still count, and are seldom what a person looks for. */
function Grants({ given, onSaid }: { given: GrantView[]; onSaid: (words: string) => void }) {
  const lasting = given.filter((one) => one.scope === "project");
  const used = given.filter((one) => one.scope !== "project" && !one.idle);
  const idle = given.filter((one) => one.idle);
  const rows = (grants: GrantView[]) => grants.map((one) => <GrantRow key={one.grant_id} grant={one} onSaid={onSaid} />);
  return (
    <div className="space-y-4">
      {lasting.length > 0 && (
        <section aria-label="Always in this project" className="space-y-2">
          <h2 className="font-medium">Always in this project</h2>
          <List label="Grants for the project">{rows(lasting)}</List>
        </section>
      )}
      {lasting.length > 0 && used.length > 0 && <h2 className="font-medium">In one session</h2>}
      {used.length > 0 && <List label="Grants">{rows(used)}</List>}
      {idle.length > 0 && (
        <details>
          <summary className="cursor-pointer text-soft">
            {several(idle.length, "grant")} of idle sessions: no call in the last 12 hours. They apply again if the session continues.
          </summary>
          <div className="mt-2">
            <List label="Grants of idle sessions">{rows(idle)}</List>
          </div>
        </details>
      )}
    </div>
  );
}
