import { Check, Clock, X } from "lucide-react";
import { useMemo, useRef, useState } from "react";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { Button } from "../ui/button";
import { useLostFocus } from "../ui/focus";
import { useKeys } from "../ui/keys";
import { moment } from "../words/time";
import { visible } from "../words/visible";

interface Props {
  card: ApprovalView;
  withKeys: boolean;
  onNext: () => void;
  onStop: () => void;
}

/** Replaces the buttons of a card that is no longer open: how it ended, who decided, from where and when. */
export function Answered({ card, withKeys, onNext, onStop }: Props) {
  const { name } = useSession();
  const told = useRef<HTMLSpanElement>(null);
  useLostFocus(told);
  const [hint, setHint] = useState("");
  const explain = useMemo(() => {
    const say = () => setHint("There is nothing to decide here any more. Press j for the next request.");
    return withKeys ? { a: say, c: say, r: say, y: say } : {};
  }, [withKeys]);
  useKeys(explain, "apart");
  const yes = card.status === "approved";
  const Icon = yes ? Check : card.status === "expired" ? Clock : X;
  return (
    <footer className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-panel px-4 py-3 md:px-6" role="status">
      <Icon size={16} className={yes ? "text-low" : "text-critical"} aria-hidden />
      <span ref={told} tabIndex={-1} className="outline-none [overflow-wrap:anywhere]">
        {sentence(card, name)} {hint}
      </span>
      <div className="ml-auto flex gap-2">
        {card.status !== "withdrawn" && (
          <Button look="quiet" onClick={onStop}>
            Stop the run…
          </Button>
        )}
        <Button look="plain" hotkey={withKeys ? "j" : undefined} onClick={onNext}>
          Next
        </Button>
      </div>
    </footer>
  );
}

export function sentence(card: ApprovalView, me: string): string {
  if (card.status === "expired") return "Expired: it was not answered in time, so it was refused.";
  if (card.status === "withdrawn") return "Withdrawn before a decision: the call was cancelled, or its run was stopped.";
  const who = card.decided_by === me ? "You" : visible(card.decided_by ?? "Another person");
  const verb = card.status === "approved" ? "approved" : "refused";
  const where = card.channel ? `, from ${visible(card.channel)}` : "";
  const when = card.decided_at ? ` at ${moment(card.decided_at)}` : "";
  const why = card.reason ? `: “${visible(card.reason)}”` : "";
  return `${who} ${verb} it${where}${when}${why}.`;
}
