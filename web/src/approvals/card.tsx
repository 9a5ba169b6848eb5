import { Quote, TriangleAlert } from "lucide-react";

import type { ApprovalView } from "../api/types";
import { Code } from "../ui/code";
import { Countdown } from "../ui/countdown";
import { Risk } from "../ui/risk";
import { visible } from "../words/visible";
import { DecisionBar } from "./decide";
import { Evidence } from "./evidence";

/** What will happen in one sentence, why it is asked, the evidence, and the decision. */
export function Card({ card, onNext }: { card: ApprovalView; onNext: () => void }) {
  const waits = card.status === "pending";
  return (
    <article aria-labelledby="what" className="flex min-h-0 flex-1 flex-col">
      <header className="border-b border-line px-4 py-4 md:px-6">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2 id="what" className="text-base font-semibold tracking-tight [overflow-wrap:anywhere]">
            {visible(card.description)}
          </h2>
          <Risk level={card.risk_level} />
          {waits && (
            <span className="ml-auto inline-flex items-center gap-1.5 text-soft">
              refuses itself in <Countdown until={card.expires_at} total={card.timeout_seconds} />
            </span>
          )}
        </div>
        <Why card={card} />
      </header>
      <div className="min-h-0 flex-1 overflow-auto p-4 md:p-6" tabIndex={0} aria-label="Evidence" role="region">
        <Evidence card={card} />
      </div>
      <DecisionBar card={card} onNext={onNext} />
    </article>
  );
}

/** Why it is asked: what was found, what to know besides, and what the agent claims. */
export function Why({ card }: { card: ApprovalView }) {
  return (
    <>
      <ul className="mt-2 space-y-0.5 text-soft">
        {card.reasons.map((reason) => (
          <li key={reason} className="flex gap-2 [overflow-wrap:anywhere]">
            <span aria-hidden>·</span>
            {visible(reason)}
          </li>
        ))}
      </ul>
      {card.notes.map((note) => (
        <p key={note} className="mt-2 flex gap-2 rounded-md border border-medium/40 bg-medium/10 px-3 py-2 [overflow-wrap:anywhere]">
          <TriangleAlert size={16} className="mt-0.5 shrink-0 text-medium" aria-hidden />
          {visible(note)}
        </p>
      ))}
      {card.reasoning && (
        <p className="mt-2 flex gap-2 text-soft italic [overflow-wrap:anywhere]">
          <Quote size={14} className="mt-1 shrink-0" aria-hidden />
          <span>
            <span className="not-italic">The agent claims:</span> {visible(card.reasoning, "\n")}
          </span>
        </p>
      )}
      <p className="mt-2 text-xs text-soft">
        asked by <Code>{card.agent_id}</Code> in session <Code>{card.session_id}</Code> with <Code>{card.tool_name}</Code>
      </p>
    </>
  );
}
