import type { AskedView } from "../api/types";

export interface WayOut {
  refuses: boolean;
  button: string;
}

/** How to be asked less. A rule is offered only for calls that a person refused; without a class there is nothing to approve ahead. */
export function wayOut(one: AskedView): WayOut | null {
  if (one.refused > 0 && one.refusal !== null) return { refuses: true, button: "Always refuse this…" };
  return one.class_words === null ? null : { refuses: false, button: "Stop being asked…" };
}
