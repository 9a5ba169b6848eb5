import { STATUS_OUTCOMES } from "../words/outcome";

/** What is shown, as it stands in the address: who has the address sees the same. */
export interface Filters {
  state: string;
  tool: string;
  risk: string;
  session: string;
  q: string;
}

const NAMES = ["state", "tool", "risk", "session", "q"] as const;
// How the server calls them.
const ASKED_AS: Record<(typeof NAMES)[number], string> = { state: "status", tool: "tool", risk: "risk", session: "session_id", q: "text" };
const MOST_CHARS = 200;
export const RISKS = ["LOW", "MEDIUM", "HIGH", "CRITICAL", "FORBIDDEN"];

export function filtersOf(query: URLSearchParams): Filters {
  const one = (name: string) => (query.get(name) ?? "").slice(0, MOST_CHARS);
  // What nothing can be is no filter.
  const of = (name: string, known: string[]) => (known.includes(one(name)) ? one(name) : "");
  return { state: of("state", Object.keys(STATUS_OUTCOMES)), tool: one("tool"), risk: of("risk", RISKS), session: one("session"), q: one("q") };
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

/** The same as a question to the server. */
export function questionOf(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name]) query.set(ASKED_AS[name], filters[name]);
  return query;
}
