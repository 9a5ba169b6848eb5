import { Check, Clock, X } from "lucide-react";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { Button } from "../ui/button";
import { moment } from "../words/time";
import { visible } from "../words/visible";

/** In place of the decision: how it ended, who has decided, where and when. */
export function Answered({ card, onNext }: { card: ApprovalView; onNext: () => void }) {
  const { name } = useSession();
  const yes = card.status === "approved";
  const Icon = yes ? Check : card.status === "expired" ? Clock : X;
  return (
    <footer className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-panel px-4 py-3 md:px-6" role="status">
      <Icon size={16} className={yes ? "text-low" : "text-critical"} aria-hidden />
      <span className="[overflow-wrap:anywhere]">{sentence(card, name)}</span>
      <Button look="quiet" className="ml-auto" onClick={onNext}>
        Next
      </Button>
    </footer>
  );
}

export function sentence(card: ApprovalView, me: string): string {
  if (card.status === "expired") return "Nobody has decided in time; it was refused.";
  if (card.status === "withdrawn") return "It was taken back before anybody decided.";
  const who = card.decided_by === me ? "You" : visible(card.decided_by ?? "Somebody");
  const verb = card.status === "approved" ? "approved" : "refused";
  const where = card.channel ? `, from ${visible(card.channel)}` : "";
  const when = card.decided_at ? ` at ${moment(card.decided_at)}` : "";
  const why = card.reason ? `: “${visible(card.reason)}”` : "";
  return `${who} ${verb} it${where}${when}${why}.`;
}
