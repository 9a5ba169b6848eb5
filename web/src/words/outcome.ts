/** The fields of a call that say what became of it. Lists, details and events carry different subsets. */
export interface Ending {
  status: string;
  error_type?: string | null;
  /** Of a command; null where the tool runs none. */
  exit_code?: number | null;
  result?: Record<string, unknown> | null;
  undone_at?: string | null;
}

export type Tone = "good" | "bad" | "attention" | "active" | "quiet";

export interface Outcome {
  /** The server's status, or one of those that it calls `completed` or `failed`: `invalid`, `denied`, `exited`, `unsuccessful`, `undone`. */
  state: string;
  words: string;
  tone: Tone;
}

/** The statuses of the server, in the order of a call's life. */
export const STATUS_OUTCOMES: Record<string, Omit<Outcome, "state">> = {
  pending: { words: "being checked", tone: "quiet" },
  awaiting_approval: { words: "waiting for you", tone: "attention" },
  approved: { words: "about to run", tone: "quiet" },
  executing: { words: "running", tone: "active" },
  completed: { words: "done", tone: "good" },
  rejected: { words: "refused", tone: "bad" },
  timeout: { words: "timed out", tone: "attention" },
  failed: { words: "failed", tone: "bad" },
};

/** What became of a call, in words and with a tone. A command that exits with another code than 0 is never good. */
export function outcomeOf(call: Ending | undefined): Outcome {
  if (!call) return { state: "unknown", words: "requested", tone: "quiet" };
  if (call.undone_at) return { state: "undone", words: "undone", tone: "quiet" };
  if (call.error_type === "validation") return { state: "invalid", words: "invalid parameters", tone: "bad" };
  if (call.error_type === "denied") return { state: "denied", words: "refused by a rule", tone: "bad" };
  if (call.status === "completed") {
    const code = exitCodeOf(call);
    if (code !== null && code !== 0) return { state: "exited", words: code < 0 ? `killed by signal ${-code}` : `exit ${code}`, tone: "bad" };
    if (call.result?.["success"] === false) return { state: "unsuccessful", words: "failed", tone: "bad" };
  }
  return { state: call.status, ...(STATUS_OUTCOMES[call.status] ?? { words: call.status, tone: "quiet" }) };
}

function exitCodeOf(call: Ending): number | null {
  const code = call.exit_code ?? call.result?.["exit_code"];
  return typeof code === "number" ? code : null;
}
