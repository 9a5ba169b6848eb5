import { visible } from "./visible";

/** An agent by the name of its token; where it has none, by the end of its id. */
export function agentName({ agent_id: id, agent_name: name }: { agent_id: string; agent_name?: string | null }): string {
  if (name) return visible(name);
  return id.startsWith("agt_") ? `agent …${visible(id.slice(-6))}` : visible(id);
}
