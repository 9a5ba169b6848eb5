import type { Autonomy } from "../api/types";

/** What an agent may do without asking, in words. */
export const AUTONOMY: Record<Autonomy, { words: string; means: string }> = {
  read_only: { words: "read only", means: "Agents can read. Changes are refused, even with an approval." },
  draft: { words: "draft", means: "Agents change a draft. You are asked once about all its changes." },
  supervised: { words: "supervised", means: "Agents can read without asking. Changes ask you." },
  full: { words: "full", means: "Agents can change the workspace without asking. Risky calls still ask you." },
};

export const UNLISTED: Record<string, string> = {
  refuse: "Commands without a rule are refused.",
  ask: "Commands without a rule ask you.",
};
