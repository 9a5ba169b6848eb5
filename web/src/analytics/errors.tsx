import { CircleCheck } from "lucide-react";

import type { AnalyticsResponse, ErrorView } from "../api/types";
import { Code } from "../ui/code";
import { several } from "../words/number";
import { visible } from "../words/visible";
import { Bars } from "./bars";
import { Panel } from "./panel";

const KINDS: Record<string, string> = {
  validation: "invalid parameters",
  denied: "refused by the machine’s rules",
  stale: "changed after approval",
  no_client: "no machine was connected",
  execution: "the tool failed",
  execution_timeout: "took too long",
  outcome_unknown: "machine lost while it ran",
  internal: "bug in a tool",
  timeout: "no machine started it in time",
};

/** Calls that failed to run, by machine, tool and kind of error. */
export function Errors({ numbers: { errors } }: { numbers: AnalyticsResponse }) {
  const all = errors.reduce((sum, one) => sum + one.calls, 0);
  return (
    <Panel title="Errors" about={`${all ? `${several(all, "call")} failed to run, by` : "By"} machine, tool and kind. A command that ran and exited with an error code is not counted.`}>
      {all === 0 ? (
        <p className="flex items-center gap-2 py-6 text-soft">
          <CircleCheck size={16} className="text-low" aria-hidden /> Every call ran in this period.
        </p>
      ) : (
        <Bars
          caption="Calls that failed to run"
          head="Machine, tool and kind"
          token="--critical"
          all={all}
          bars={errors.map((one) => ({
            key: `${one.executor} ${one.client_id} ${one.tool_name} ${one.error_type}`,
            name: (
              <>
                <Code>{one.tool_name}</Code> {place(one)}
              </>
            ),
            about: KINDS[one.error_type] ?? visible(one.error_type),
            calls: one.calls,
          }))}
        />
      )}
    </Panel>
  );
}

function place(error: ErrorView): string {
  if (error.executor === "server") return "on the server";
  if (error.executor === "client") return `on ${visible(error.client_name ?? error.client_id ?? "a machine")}`;
  return "before reaching a machine";
}
