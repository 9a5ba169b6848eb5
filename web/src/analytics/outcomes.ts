import type { OutcomesView } from "../api/types";
import type { Ink } from "./inks";

export interface Outcome extends Ink {
  key: keyof OutcomesView;
  words: string;
}

/** The outcomes of calls in the order of the stack, each with a colour, a pattern and a name. */
export const OUTCOMES: Outcome[] = [
  { key: "auto_approved", words: "Auto-approved", token: "--soft", pattern: "faint" },
  { key: "approved", words: "Approved", token: "--accent", pattern: "plain" },
  { key: "refused", words: "Refused", token: "--critical", pattern: "plain" },
  { key: "expired", words: "Expired", token: "--medium", pattern: "dots" },
  { key: "denied", words: "Refused by a rule", token: "--high", pattern: "stripes" },
  { key: "over_limit", words: "Over the limit of open questions", token: "--soft", pattern: "stripes" },
];

export function allOf(outcomes: OutcomesView): number {
  return OUTCOMES.reduce((sum, { key }) => sum + outcomes[key], 0);
}
