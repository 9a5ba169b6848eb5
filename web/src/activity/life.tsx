import type { ReactNode } from "react";

import type { RecordView } from "../api/types";
import { Code } from "../ui/code";
import { CallState } from "../ui/call-state";
import { Risk } from "../ui/risk";
import { duration, moment } from "../words/time";
import { visible } from "../words/visible";
import { Decision } from "./decision";

const FREEDOMS: Record<string, string> = { read_only: "only reading", supervised: "supervised", full: "full" };

/** A call from the wish to its end, step by step. */
export function Life({ call }: { call: RecordView }) {
  const took = call.execution_time_ms === null ? "" : `, it took ${duration(call.execution_time_ms)}`;
  return (
    <ol className="relative space-y-4 border-l border-line pl-5">
      <Step title="Asked" at={call.created_at}>
        <p>
          by <Code>{call.agent_id}</Code>
        </p>
        {call.reasoning && <p className="text-soft italic [overflow-wrap:anywhere]">It claims: {visible(call.reasoning, "\n")}</p>}
      </Step>
      <Step title="Judged">
        <p className="flex flex-wrap items-center gap-2">
          <Risk level={call.risk_level} />
          <span className="text-soft">
            with freedom: {FREEDOMS[call.autonomy] ?? visible(call.autonomy)}; {call.surveyed ? "a machine had looked" : "by its words alone"}
          </span>
        </p>
        <ul className="text-soft">
          {call.reasons.map((reason) => (
            <li key={reason} className="[overflow-wrap:anywhere]">
              · {visible(reason)}
            </li>
          ))}
        </ul>
        {call.origins && <Origins origins={call.origins} />}
      </Step>
      <Step title="Decided">
        <Decision call={call} />
      </Step>
      {call.started_at && (
        <Step title="Ran" at={call.started_at}>
          {call.client_id ? (
            <p>
              on <Code>{call.client_id}</Code>
            </p>
          ) : (
            <p>in the server itself</p>
          )}
        </Step>
      )}
      <Step title={call.completed_at ? "Ended" : "Now"} at={call.completed_at}>
        <p className="flex items-center">
          <CallState call={call} />
          <span className="text-soft">{took}</span>
        </p>
      </Step>
    </ol>
  );
}

function Step({ title, at = null, children }: { title: string; at?: string | null; children: ReactNode }) {
  return (
    <li className="relative">
      <span className="absolute top-1.5 -left-[1.55rem] size-2.5 rounded-full border-2 border-bg bg-soft" aria-hidden />
      <h4 className="font-medium">
        {title}
        {at && (
          <time dateTime={at} className="ml-2 text-xs font-normal text-soft tabular-nums">
            {moment(at)}
          </time>
        )}
      </h4>
      {children}
    </li>
  );
}

function Origins({ origins }: { origins: Record<string, string> }) {
  return (
    <ul className="text-soft">
      {Object.entries(origins).map(([name, from]) => (
        <li key={name}>
          <Code>{name}</Code> came out of the result of <Code>{from}</Code>
        </li>
      ))}
    </ul>
  );
}
