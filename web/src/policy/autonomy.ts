import type { Autonomy } from "../api/types";

/** How much an agent may do unasked, in words. */
export const AUTONOMY: Record<Autonomy, { words: string; means: string }> = {
  read_only: { words: "read only", means: "It may look, and change nothing, whoever says yes." },
  supervised: { words: "supervised", means: "It may look unasked. What changes something asks you." },
  full: { words: "full", means: "It may change the workspace unasked. What is risky still asks you." },
};

export const UNLISTED: Record<string, string> = {
  refuse: "Commands that nobody has listed are refused.",
  ask: "Commands that nobody has listed ask you.",
};
