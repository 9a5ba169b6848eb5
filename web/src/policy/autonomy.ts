import { AUTONOMIES, type Autonomy } from "../api/types";

/** What an agent may do without asking: its name, and what that means. */
export const AUTONOMY = Object.fromEntries(
  AUTONOMIES.map(([name, means]) => [name, { words: name.replace("_", " "), means }]),
) as Record<Autonomy, { words: string; means: string }>;

export const UNLISTED: Record<string, string> = {
  refuse: "Commands without a rule are refused.",
  ask: "Commands without a rule ask you.",
};
