import { useRef } from "react";

import type { ApprovalView } from "../api/types";
import { Why } from "../approvals/card";
import { DecisionBar } from "../approvals/decide";
import { Evidence } from "../approvals/evidence";
import { useUnmasked } from "../approvals/unmasked";
import { Link } from "../router";
import { Countdown } from "../ui/countdown";
import { Risk } from "../ui/risk";
import { visible } from "../words/visible";

interface Props {
  card: ApprovalView;
  onAsking: (isAsking: boolean) => void;
}

/** The same card as on the Approvals page, in the conversation it belongs to. */
export function Question({ card: stored, onAsking }: Props) {
  const card = useUnmasked(stored);
  const title = useRef<HTMLDivElement>(null);
  const evidence = useRef<HTMLDivElement>(null);
  return (
    <section data-waits aria-label={`Waiting for you: ${visible(card.description)}`} className="border-t border-line bg-panel">
      <div className="px-4 py-3 md:px-6">
        <div ref={title} className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="as-code overflow-clip font-semibold tracking-tight whitespace-pre-wrap [overflow-wrap:anywhere]">{visible(card.description)}</h3>
          <Risk level={card.risk_level} />
          <span className="ml-auto inline-flex items-center gap-1.5 text-xs text-soft" title="It is refused if it is not answered in time.">
            expires in <Countdown until={card.expires_at} total={card.timeout_seconds} />
          </span>
        </div>
        <Why card={card} />
        <div ref={evidence} className="mt-3 max-h-[35dvh] overflow-auto" tabIndex={0} role="region" aria-label="Evidence">
          <Evidence card={card} />
        </div>
        <p className="mt-2 text-xs">
          <Link href={`/approvals/${card.approval_id}`} className="text-accent underline underline-offset-2">
            Open in Approvals
          </Link>
        </p>
      </div>
      <DecisionBar card={card} onNext={() => undefined} onAsking={onAsking} withKeys={false} evidence={evidence} title={title} />
    </section>
  );
}
