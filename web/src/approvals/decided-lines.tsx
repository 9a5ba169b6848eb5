import { X } from "lucide-react";
import { useEffect } from "react";

import { Link } from "../router";
import { TONES } from "../ui/call-state";
import { visible } from "../words/visible";
import { forgetDecided, useDecided, type Decided } from "./decided";

const MOST_CHARS = 200;

/** What became of the latest decisions: it is announced, and follows each call to its end. */
export function DecidedLines() {
  const decided = useDecided();
  useEffect(() => forgetDecided, []);
  return (
    <div className={decided.length > 0 ? "flex items-start gap-2 border-b border-line bg-panel px-4 py-1.5 md:px-6" : ""}>
      <div role="status" aria-label="Your latest decisions" className="min-w-0 flex-1 space-y-0.5 text-[13px]">
        {decided.map((one) => (
          <DecidedLine key={one.card.approval_id} decided={one} />
        ))}
      </div>
      {decided.length > 0 && (
        <button type="button" aria-label="Hide your latest decisions" onClick={forgetDecided} className="shrink-0 rounded p-0.5 text-soft hover:bg-raised">
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}

function DecidedLine({ decided: { card, verdict, scope, outcome, reason } }: { decided: Decided }) {
  const why = reason ? `: ${reason.split("\n", 1)[0]!.slice(0, MOST_CHARS)}` : "";
  return (
    <p className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
      <span className="as-code min-w-0 max-w-full truncate">
        <span className="font-medium">{verdict}:</span> {visible(card.description)}
      </span>
      {verdict === "Approved" && (
        <span className={`[overflow-wrap:anywhere] ${outcome ? TONES[outcome.tone] : "text-soft"}`}>
          <span className="text-soft">· </span>
          {visible(outcome ? `${outcome.words}${outcome.tone === "active" ? "…" : ""}${why}` : "about to run")}
        </span>
      )}
      {verdict === "Approved" && scope && scope !== "once" && (
        <span className="text-soft">
          · {visible(card.offers.find((one) => one.scope === scope)?.words ?? "")} from now on:{" "}
          <Link href="/grants" className="text-accent underline underline-offset-2">
            listed under Grants
          </Link>
        </span>
      )}
      <Link href={`/activity/${card.tool_id}?session=${encodeURIComponent(card.session_id)}`} className="whitespace-nowrap text-accent underline underline-offset-2">
        View in Activity
      </Link>
    </p>
  );
}
