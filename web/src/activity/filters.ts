import { STATUS_OUTCOMES } from "../words/outcome";

/** Which calls are shown. Kept in the address, so a link shows the same calls. */
export interface Filters {
  state: string;
  tool: string;
  risk: string;
  agent: string;
  session: string;
  q: string;
}

const NAMES = ["state", "tool", "risk", "agent", "session", "q"] as const;
// The parameters of the list endpoint.
const ASKED_AS: Record<(typeof NAMES)[number], string> = { state: "status", tool: "tool", risk: "risk", agent: "agent_id", session: "session_id", q: "text" };
const MOST_CHARS = 200;
export const NO_FILTERS: Filters = { state: "", tool: "", risk: "", agent: "", session: "", q: "" };
export const RISKS = ["LOW", "MEDIUM", "HIGH", "CRITICAL", "FORBIDDEN"];

export function filtersOf(query: URLSearchParams): Filters {
  const one = (name: string) => (query.get(name) ?? "").slice(0, MOST_CHARS);
  // An unknown value is ignored.
  const of = (name: string, known: string[]) => (known.includes(one(name)) ? one(name) : "");
  return { state: of("state", Object.keys(STATUS_OUTCOMES)), tool: one("tool"), risk: of("risk", RISKS), agent: one("agent"), session: one("session"), q: one("q") };
}

export function isFiltered(filters: Filters): boolean {
  return NAMES.some((name) => filters[name] !== "");
}

/** The address of the page with these filters and, perhaps, one call. */
export function addressOf(filters: Filters, callId: string | null = null): string {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name]) query.set(name, filters[name]);
  const words = query.toString();
  return `/activity${callId ? `/${encodeURIComponent(callId)}` : ""}${words ? `?${words}` : ""}`;
}

/** The same as parameters of the list endpoint. */
export function questionOf(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name]) query.set(ASKED_AS[name], filters[name]);
  return query;
}
