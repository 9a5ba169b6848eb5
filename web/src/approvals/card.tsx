import { Quote, TriangleAlert } from "lucide-react";
import { useRef, useState } from "react";

import type { ApprovalView } from "../api/types";
import { Code } from "../ui/code";
import { Countdown } from "../ui/countdown";
import { useLostFocus } from "../ui/focus";
import { Folded } from "../ui/folded";
import { Risk } from "../ui/risk";
import { agentName } from "../words/agent";
import { visible } from "../words/visible";
import { DecisionBar } from "./decide";
import { Evidence } from "./evidence";
import { useUnmasked } from "./unmasked";

/** What would happen in one sentence, why a person has to decide, the evidence, and the decision. */
export function Card({ card: stored, onNext }: { card: ApprovalView; onNext: (approvalId?: string) => void }) {
  const card = useUnmasked(stored);
  const waits = card.status === "pending";
  const evidence = useRef<HTMLDivElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  useLostFocus(title);
  const [editSlot, setEditSlot] = useState<HTMLElement | null>(null);
  return (
    <article aria-labelledby="what" className="flex min-h-0 flex-1 flex-col short:max-md:min-h-80">
      {/* However long the header is, the evidence keeps its height and the decision its place. */}
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
        <header className="shrink-0 border-b border-line px-4 py-4 md:px-6">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h2 ref={title} id="what" tabIndex={-1} className="outline-none as-code min-w-0 overflow-clip text-base font-semibold tracking-tight whitespace-pre-wrap [overflow-clip-margin:4px] [overflow-wrap:anywhere]">
              <Folded text={card.description} />
            </h2>
            <Risk level={card.risk_level} />
            <span ref={setEditSlot} className="contents" />
            {waits && (
              <span className="ml-auto inline-flex items-center gap-1.5 text-soft" title="It is refused if it is not answered in time.">
                expires in <Countdown until={card.expires_at} total={card.timeout_seconds} />
              </span>
            )}
          </div>
          <Why card={card} />
        </header>
        <div ref={evidence} className="min-h-48 flex-1 overflow-auto p-4 md:p-6" tabIndex={0} aria-label="Evidence" role="region">
          <Evidence card={card} />
        </div>
      </div>
      <DecisionBar card={card} onNext={onNext} evidence={evidence} editSlot={editSlot} />
    </article>
  );
}

/** The findings, the notes, and what the agent claims. */
export function Why({ card }: { card: ApprovalView }) {
  return (
    <>
      <ul className="as-code mt-2 space-y-0.5 text-soft">
        {card.reasons.map((reason) => (
          <li key={reason} className="flex gap-2 [overflow-wrap:anywhere]">
            <span aria-hidden>·</span>
            <span>
              <Folded text={reason} />
            </span>
          </li>
        ))}
      </ul>
      {card.notes.map((note) => (
        <p key={note} className="as-code mt-2 flex gap-2 rounded-md border border-medium/40 bg-medium/10 px-3 py-2 [overflow-wrap:anywhere]">
          <TriangleAlert size={16} className="mt-0.5 shrink-0 text-medium" aria-hidden />
          <span>
            <Folded text={note} />
          </span>
        </p>
      ))}
      {card.reasoning && (
        <p className="mt-2 flex gap-2 text-soft italic [overflow-wrap:anywhere]">
          <Quote size={14} className="mt-1 shrink-0" aria-hidden />
          <span>
            <span className="not-italic">The agent claims:</span> <Folded text={card.reasoning} keep={"\n"} />
          </span>
        </p>
      )}
      <p className="mt-2 text-xs text-soft">
        requested by <span title={visible(card.agent_id)}>{agentName(card)}</span> in session <Code>{card.session_id}</Code> with <Code>{card.tool_name}</Code>
      </p>
    </>
  );
}
