import { Ban, Check, CircleDashed, CircleHelp, Clock, LoaderCircle, X, type LucideIcon } from "lucide-react";

/** The states of a call, each with a word, a shape and a colour. */
export const STATES: Record<string, { word: string; Icon: LucideIcon; colour: string }> = {
  pending: { word: "being looked at", Icon: CircleDashed, colour: "text-soft" },
  awaiting_approval: { word: "waits for you", Icon: CircleHelp, colour: "text-medium" },
  approved: { word: "about to run", Icon: CircleDashed, colour: "text-soft" },
  executing: { word: "runs", Icon: LoaderCircle, colour: "text-accent" },
  completed: { word: "done", Icon: Check, colour: "text-low" },
  rejected: { word: "refused", Icon: Ban, colour: "text-critical" },
  timeout: { word: "too late", Icon: Clock, colour: "text-medium" },
  failed: { word: "failed", Icon: X, colour: "text-critical" },
};
// No state of the server's: it calls that failed, and people would look for what went wrong.
const DENIED = { word: "refused by rule", Icon: Ban, colour: "text-critical" };
const UNKNOWN = { word: "asked for", Icon: CircleDashed, colour: "text-soft" };

export function stateOf(call: { status: string; error_type: string | null }): string {
  return call.error_type === "denied" ? "denied" : call.status;
}

export function CallState({ status, className = "" }: { status: string | undefined; className?: string }) {
  const { word, Icon, colour } = status === "denied" ? DENIED : ((status && STATES[status]) || UNKNOWN);
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${colour} ${className}`}>
      <Icon size={14} className={`shrink-0 ${status === "executing" ? "animate-spin" : ""}`} aria-hidden />
      {word}
    </span>
  );
}
