import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, X } from "lucide-react";
import { useEffect, type ReactNode } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { RecordView } from "../api/types";
import { Evidence } from "../approvals/evidence";
import { StopRun } from "../approvals/stop-run";
import { go, Link } from "../router";
import { Code } from "../ui/code";
import { Copy } from "../ui/copy";
import { useKeys } from "../ui/keys";
import { Notice } from "../ui/notice";
import { Parameters } from "../ui/parameters";
import { agentName } from "../words/agent";
import { glance } from "../words/glance";
import { machineName } from "../words/machine";
import { visible } from "../words/visible";
import { BoxLayers } from "./box";
import { useQuestion } from "./decision";
import { addressOf, type Filters } from "./filters";
import { Life } from "./life";
import { Result } from "./result";
import { Undo, UndoSession } from "./undo";

/** The details of one call. */
export function Details({ callId, filters }: { callId: string; filters: Filters }) {
  const path = usePath();
  const { project } = useSession();
  const { data: call, error, refetch } = useQuery({
    queryKey: ["call", project.project_id, callId],
    queryFn: () => ask<RecordView>("GET", path(`/activity/${encodeURIComponent(callId)}`)),
  });
  useEffect(
    () => stream.listen((name, event) => name.startsWith("tool.") && (event as { tool_id?: string }).tool_id === callId && void refetch()),
    [callId, refetch],
  );
  useKeys({ Escape: () => go(addressOf(filters)) });
  return (
    <aside aria-label="One call" className="flex min-h-0 min-w-0 flex-col border-line lg:border-l">
      <header className="flex items-center gap-2 border-b border-line px-4 py-2">
        <Link href={addressOf(filters)} className="-ml-2 rounded-md p-1.5 text-soft hover:bg-raised lg:hidden" aria-label="Back to the list">
          <ArrowLeft size={16} aria-hidden />
        </Link>
        <h2 className="min-w-0 flex-1 truncate py-1 font-medium">
          {call ? (
            <>
              <span className="font-mono text-[13px]">{glance(call.tool_name, call.tool_params)}</span> <span className="ml-1 text-xs font-normal text-soft">{visible(call.tool_name)}</span>
            </>
          ) : (
            "A call"
          )}
        </h2>
        <Link href={addressOf(filters)} className="-mr-1 rounded-md p-1.5 text-soft hover:bg-raised max-lg:hidden" aria-label="Close">
          <X size={16} aria-hidden />
        </Link>
      </header>
      <div className="min-h-0 flex-1 space-y-6 overflow-y-auto p-4" tabIndex={0} role="region" aria-label="Details">
        {error && <Notice bad>{visible(error.message)}</Notice>}
        {call && !error && <Whole call={call} filters={filters} />}
      </div>
    </aside>
  );
}

function Whole({ call, filters }: { call: RecordView; filters: Filters }) {
  const question = useQuestion(call);
  return (
    <>
      {question && <p className="as-code overflow-clip text-base font-semibold tracking-tight whitespace-pre-wrap [overflow-wrap:anywhere]">{visible(question.description)}</p>}
      <Part title="Timeline">
        <Life call={call} />
      </Part>
      <Part title="Result">
        <Result call={call} />
      </Part>
      {call.completed_at && (
        <Part title="Undo">
          <Undo call={call} />
        </Part>
      )}
      <Part title="Parameters">
        <Parameters params={call.tool_params} />
      </Part>
      {question && (question.evidence || question.revision) && (
        <Part title="Shown before the decision">
          <Evidence card={question} />
        </Part>
      )}
      <Part title="Sandbox">
        <BoxLayers call={call} />
      </Part>
      <Part title="Identifiers">
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5">
          <Name title="Call" value={call.tool_id} />
          <Name title="Session" value={call.session_id}>
            <Link href={addressOf({ ...filters, session: call.session_id })} className="text-xs text-accent underline underline-offset-2">
              only this session
            </Link>
            <StopRun session={call.session_id} />
            <UndoSession session={call.session_id} />
          </Name>
          <Name title="Agent" value={call.agent_id}>
            <span>{agentName(call)}</span>
            <Link href={addressOf({ ...filters, agent: call.agent_id })} className="text-xs text-accent underline underline-offset-2">
              only this agent
            </Link>
          </Name>
          {call.client_id && (
            <Name title="Machine" value={call.client_id}>
              <span>{machineName(call)}</span>
            </Name>
          )}
          <Name title="Call id of the agent" value={call.call_id} />
          <Name title="Digest" value={call.digest} />
        </dl>
        {question?.status === "approved" && <p className="mt-2 text-xs text-soft">The approval covers exactly this call, its plan and the state of its files. If any of it changes, nothing runs.</p>}
      </Part>
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-2 text-xs font-medium text-soft">{title}</h3>
      {children}
    </section>
  );
}

function Name({ title, value, children }: { title: string; value: string; children?: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{title}</dt>
      <dd className="flex flex-wrap items-center gap-x-2">
        <Code>{value}</Code>
        <Copy text={visible(value)} what={title} />
        {children}
      </dd>
    </>
  );
}
