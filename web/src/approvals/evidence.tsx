import type { ApprovalView } from "../api/types";
import { isDiff } from "../words/diff";
import { visible } from "../words/visible";
import { CommandPlan } from "./command";
import { Diff } from "./diff";

/** What would change or run: a diff, a plan of commands, or the parameters as they are. */
export function Evidence({ card }: { card: ApprovalView }) {
  if (isDiff(card.evidence)) return <Diff text={card.evidence} />;
  if (card.evidence) return <CommandPlan text={card.evidence} />;
  return <Parameters params={card.tool_params} />;
}

function Parameters({ params }: { params: Record<string, unknown> }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-2 rounded-lg border border-line bg-panel p-4">
      {Object.entries(params).map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="font-mono text-[13px] text-soft">{visible(name)}</dt>
          <dd className="font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]">
            {visible(typeof value === "string" ? value : JSON.stringify(value, null, 2), "\n\t")}
          </dd>
        </div>
      ))}
    </dl>
  );
}
