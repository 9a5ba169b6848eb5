import { Ban, CircleCheck, FilePen, FlaskConical, Hand, type LucideIcon } from "lucide-react";

import type { ExplainResponse, Ruling } from "../api/types";
import { Risk } from "../ui/risk";
import { Tag } from "../ui/tag";
import { visible } from "../words/visible";
import { AUTONOMY } from "./autonomy";
import { Plan } from "./plan";

const RULINGS: Record<Ruling, { words: string; Icon: LucideIcon; colour: string }> = {
  allow: { words: "Runs at once", Icon: CircleCheck, colour: "text-low" },
  draft: { words: "Changes the session's draft only", Icon: FilePen, colour: "text-accent" },
  rehearse: { words: "Tried first where it can change nothing", Icon: FlaskConical, colour: "text-accent" },
  ask: { words: "Asks a person", Icon: Hand, colour: "text-medium" },
  deny: { words: "Refused", Icon: Ban, colour: "text-critical" },
};

export function Verdict({ said }: { said: ExplainResponse }) {
  const { words, Icon, colour } = RULINGS[said.ruling];
  return (
    <div className="space-y-3">
      <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className={`flex items-center gap-2 text-base font-semibold ${colour}`}>
          <Icon size={18} aria-hidden />
          {words}
        </p>
        <Risk level={said.risk_level} />
        {said.ruling === "ask" && <span className="text-xs text-soft">expires after {Math.round(said.timeout_seconds / 60)} minutes</span>}
        {said.ruling === "rehearse" && <span className="text-xs text-soft">a person is asked only if it would change something</span>}
        <span className="ml-auto text-xs text-soft">
          {visible(said.tool_name)} · {AUTONOMY[said.autonomy].words}
        </span>
      </div>
      <p className="font-medium whitespace-pre-wrap [overflow-wrap:anywhere]">{visible(said.description, "\n")}</p>
      <Reasons said={said} />
      <Plan plan={said.plan} />
      {said.class_words && (
        <p className="text-soft [overflow-wrap:anywhere]">
          An approval of its class would cover: <span className="text-ink">{visible(said.class_words)}</span>
        </p>
      )}
    </div>
  );
}

function Reasons({ said }: { said: ExplainResponse }) {
  if (said.findings.length === 0) return <p className="text-soft">No rule objects.</p>;
  return (
    <ul aria-label="Reasons" className="space-y-1.5">
      {said.findings.map((one, index) => (
        <li key={index} className="flex flex-wrap items-center gap-x-2 gap-y-1 sm:flex-nowrap sm:items-start">
          {said.findings.length > 1 && <Risk level={one.risk_level} />}
          <span className="min-w-0 [overflow-wrap:anywhere] max-sm:order-last max-sm:w-full">{visible(one.reason)}</span>
          <Tag>
            {visible(one.rule)} · {one.layer}
          </Tag>
        </li>
      ))}
    </ul>
  );
}
