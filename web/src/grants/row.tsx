import { useQueryClient } from "@tanstack/react-query";
import { TriangleAlert, Undo2 } from "lucide-react";
import { useState } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { GrantView } from "../api/types";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { useSecondsLeft } from "../ui/countdown";
import { Fact, Facts } from "../ui/facts";
import { Risk } from "../ui/risk";
import { agentName } from "../words/agent";
import { several } from "../words/number";
import { clock, moment } from "../words/time";
import { visible } from "../words/visible";

const DAY = 24 * 60 * 60;

interface Props {
  grant: GrantView;
  onSaid: (words: string) => void;
}

export function GrantRow({ grant, onSaid }: Props) {
  const path = usePath();
  const queries = useQueryClient();
  const { userId } = useSession();
  const [busy, setBusy] = useState(false);
  const revoke = async () => {
    setBusy(true);
    try {
      await ask("DELETE", path(`/grants/${grant.grant_id}`));
      onSaid(`Revoked: ${visible(grant.words)}.`);
    } catch (error) {
      onSaid(error instanceof Error ? visible(error.message) : String(error));
    }
    await queries.invalidateQueries({ queryKey: ["grants"] });
    setBusy(false);
  };
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-3 px-4 py-3">
      <div className="min-w-0 flex-1 basis-64 space-y-2">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2 className={`flex items-center gap-1.5 font-medium [overflow-wrap:anywhere] ${grant.scope === "session" ? "text-critical" : ""}`}>
            {grant.scope === "session" && <TriangleAlert size={15} className="shrink-0" aria-hidden />}
            {visible(grant.words)}
          </h2>
          <span className="inline-flex items-center gap-1.5 text-xs text-soft">
            up to <Risk level={grant.max_risk} />
          </span>
        </div>
        <Facts>
          <Fact name="granted by">
            {grant.granted_by === userId ? "you" : <Code>{grant.granted_by}</Code>}, {moment(grant.created_at)}
          </Fact>
          {grant.agent_id && <Fact name="for agent">{agentName({ agent_id: grant.agent_id, agent_name: grant.agent_name })}</Fact>}
          {grant.scope === "project" ? (
            <Fact name="in">every session of this agent</Fact>
          ) : (
            <Fact name="in session">
              <Code>{grant.session_id}</Code>
            </Fact>
          )}
          {grant.last_call_at && <Fact name="last call">{moment(grant.last_call_at)}</Fact>}
          <Fact name="uses left">{grant.uses_left ?? "any number"}</Fact>
          <Fact name="ends">{grant.expires_at ? <Ends at={grant.expires_at} /> : "with the session"}</Fact>
        </Facts>
      </div>
      <Button look="danger" icon={<Undo2 size={14} aria-hidden />} disabled={busy} onClick={() => void revoke()}>
        Revoke
        <span className="sr-only">: {visible(grant.words)}</span>
      </Button>
    </li>
  );
}

function Ends({ at }: { at: string }) {
  const seconds = useSecondsLeft(at);
  return (
    <span className="tabular-nums">
      {seconds > 0 ? `in ${seconds < 2 * DAY ? clock(seconds) : several(Math.round(seconds / DAY), "day")}` : "now"}, at {moment(at)}
    </span>
  );
}
