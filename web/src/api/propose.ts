import { ask } from "./client";
import { usePath } from "./session";
import type { ExecutionView, RecordView } from "./types";

const LOOK_EVERY_MS = 300;
const PATIENCE_MS = 60_000;
/** The states that no call leaves again. */
export const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "timeout"]);

/** The card of a call that asks for approval, or the result of one that was done. */
interface Proposed {
  card: string | null;
  result: Record<string, unknown> | null;
}

type Propose = (tool: string, params: Record<string, unknown>, session: string) => Promise<Proposed>;

/** Proposes a call as this person, and waits until it was done or asks for approval. Anything else is an error. */
export function usePropose(): Propose {
  const path = usePath();
  return async (tool_name, tool_params, session_id) => {
    const call_id = `console-${crypto.randomUUID()}`;
    let call = await ask<ExecutionView>("POST", path("/tools/execute"), { tool_name, tool_params, session_id, call_id });
    const until = performance.now() + PATIENCE_MS;
    while (call.status !== "awaiting_approval" && !ENDED.has(call.status)) {
      if (performance.now() > until) throw new Error("The machine has not answered for a minute. Activity shows what becomes of the call.");
      await new Promise((resolve) => window.setTimeout(resolve, LOOK_EVERY_MS));
      call = await ask<RecordView>("GET", path(`/activity/${call.tool_id}`));
    }
    if (call.status === "awaiting_approval") return { card: call.approval_id, result: null };
    if (call.status !== "completed") throw new Error(call.error ?? `The call has ended: ${call.status}.`);
    return { card: null, result: call.result };
  };
}
