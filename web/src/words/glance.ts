import { visible } from "./visible";

/** What a call is about, in one line. A command reads as it would be typed. */
export function glance(params: Record<string, unknown>): string {
  const action = params["action"];
  if (typeof action === "string" && Array.isArray(params["args"])) return line([action, ...params["args"].map(String)].join(" "));
  const command = params["command"];
  if (typeof command === "string" && Array.isArray(params["args"])) return line([command, ...params["args"].map(String)].join(" "));
  const telling = ["command", "url", "pattern", "query", "path", "key", "name", "action"].filter((name) => typeof params[name] === "string");
  if (telling.length > 0) return line(telling.map((name) => params[name] as string).join("  "));
  const rest = Object.entries(params).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return line(rest.join(", "));
}

const MOST_CHARS = 300;

function line(text: string): string {
  const first = text.split("\n", 1)[0]!;
  const cut = first.length > MOST_CHARS || first.length < text.length;
  return visible(first.slice(0, MOST_CHARS), "\t") + (cut ? " …" : "");
}
