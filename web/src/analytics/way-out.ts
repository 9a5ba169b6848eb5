import type { AskedView } from "../api/types";

/** What is offered depends on the past answers: no refusal for calls that were always approved. */
export function wayOut(one: AskedView): { refuses: boolean; button: string } {
  const refuses = one.refused > 0 || one.approved === 0;
  return { refuses, button: refuses ? "Always refuse this…" : "Stop being asked…" };
}
