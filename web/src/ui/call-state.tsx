import { Ban, Check, CircleDashed, CircleHelp, Clock, LoaderCircle, Undo2, X, type LucideIcon } from "lucide-react";

import { outcomeOf, type Ending, type Tone } from "../words/outcome";
import { visible } from "../words/visible";

const ICONS: Record<string, LucideIcon> = {
  awaiting_approval: CircleHelp,
  executing: LoaderCircle,
  completed: Check,
  rejected: Ban,
  denied: Ban,
  timeout: Clock,
  failed: X,
  invalid: X,
  exited: X,
  unsuccessful: X,
  undone: Undo2,
};

export const TONES: Record<Tone, string> = {
  good: "text-low",
  bad: "text-critical",
  attention: "text-medium",
  active: "text-accent",
  quiet: "text-soft",
};

/** What became of a call: a word, a shape and a colour. */
export function CallState({ call, className = "" }: { call: Ending | undefined; className?: string }) {
  const { state, words, tone } = outcomeOf(call);
  const Icon = ICONS[state] ?? CircleDashed;
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${TONES[tone]} ${className}`}>
      <Icon size={14} className={`shrink-0 ${state === "executing" ? "animate-spin" : ""}`} aria-hidden />
      {visible(words)}
    </span>
  );
}
