import type { OutcomesView } from "../api/types";
import type { Ink } from "./inks";

export interface Outcome extends Ink {
  key: keyof OutcomesView;
  words: string;
}

/** What became of calls, in the order in which they are stacked: each with a colour, a pattern and a word. */
export const OUTCOMES: Outcome[] = [
  { key: "auto_approved", words: "Auto-approved", token: "--soft", pattern: "faint" },
  { key: "approved", words: "Approved", token: "--accent", pattern: "plain" },
  { key: "refused", words: "Refused", token: "--critical", pattern: "plain" },
  { key: "expired", words: "Expired", token: "--medium", pattern: "dots" },
  { key: "denied", words: "Denied by rule", token: "--high", pattern: "stripes" },
];

export function allOf(outcomes: OutcomesView): number {
  return OUTCOMES.reduce((sum, { key }) => sum + outcomes[key], 0);
}
