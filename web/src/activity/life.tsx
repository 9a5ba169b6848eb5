import type { ReactNode } from "react";

import type { RecordView } from "../api/types";
import { Code } from "../ui/code";
import { CallState } from "../ui/call-state";
import { Risk } from "../ui/risk";
import { agentName } from "../words/agent";
import { machineName } from "../words/machine";
import { duration, moment } from "../words/time";
import { visible } from "../words/visible";
import { Decision } from "./decision";

const AUTONOMY: Record<string, string> = { read_only: "read-only", supervised: "supervised", full: "full" };

/** The steps of a call, from the request to its end. */
export function Life({ call }: { call: RecordView }) {
  const took = call.execution_time_ms === null ? "" : `, took ${duration(call.execution_time_ms)}`;
  return (
    <ol className="relative space-y-4 border-l border-line pl-5">
      <Step title="Requested" at={call.created_at}>
        <p>
          by {agentName(call)}
        </p>
        {call.reasoning && <p className="text-soft italic [overflow-wrap:anywhere]">The agent says: {visible(call.reasoning, "\n")}</p>}
      </Step>
      {call.error_type !== "validation" && (
        <Step title="Risk">
          <p className="flex flex-wrap items-center gap-2">
            <Risk level={call.risk_level} />
            <span className="text-soft">
              {call.surveyed ? "Checked on the machine." : "Not checked on the machine."} Autonomy: {AUTONOMY[call.autonomy] ?? visible(call.autonomy)}.
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
      )}
      <Step title="Decision">
        <Decision call={call} />
      </Step>
      {call.started_at && (
        <Step title="Ran" at={call.started_at}>
          <p>on {machineName(call)}</p>
        </Step>
      )}
      <Step title={call.completed_at ? "Ended" : "Now"} at={call.completed_at}>
        <p className="flex items-center">
          <CallState call={call} />
          <span className="text-soft">{took}</span>
        </p>
      </Step>
      {call.undone_at && (
        <Step title="Undone" at={call.undone_at}>
          <p>by {visible(call.undone_by ?? "a person")}</p>
        </Step>
      )}
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
          <Code>{name}</Code> comes from the result of <Code>{from}</Code>
        </li>
      ))}
    </ul>
  );
}
