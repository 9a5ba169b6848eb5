import type { ApprovalView } from "../api/types";
import { Parameters } from "../ui/parameters";
import { isDiff } from "../words/diff";
import { CommandPlan } from "./command";
import { Diff } from "./diff";

/** What would change or run: a diff, a plan of commands, or the raw parameters. */
export function Evidence({ card, whole = false }: { card: ApprovalView; whole?: boolean }) {
  if (isDiff(card.evidence)) return <Diff text={card.evidence} />;
  if (card.evidence) return <CommandPlan text={card.evidence} />;
  return <Parameters params={card.tool_params} whole={whole} />;
}
