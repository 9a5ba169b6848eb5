import { quoted } from "./quoted";
import { visible } from "./visible";

const COMMANDS = new Set(["execute_command", "run_bash", "git"]);

/** Whether the words of a call are a command, which needs no name of a tool beside it. */
export function isCommand(tool: string, params: Record<string, unknown>): boolean {
  return COMMANDS.has(tool) && typeof (params["command"] ?? params["action"]) === "string";
}

/** What a call is about, in one line. A command reads as it would be typed; a call without parameters is its tool. */
export function glance(tool: string, params: Record<string, unknown>): string {
  const program = tool === "git" ? params["action"] : params["command"];
  if (typeof program === "string" && Array.isArray(params["args"])) {
    return line([...(tool === "git" ? [tool] : []), ...[program, ...params["args"].map(String)].map(quoted)].join(" "));
  }
  const telling = ["command", "url", "pattern", "query", "path", "key", "name", "action"].filter((name) => typeof params[name] === "string");
  if (telling.length > 0) return line(telling.map((name) => params[name] as string).join("  "));
  const rest = Object.entries(params).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return line(rest.join(", ")) || visible(tool);
}

const MOST_CHARS = 300;

function line(text: string): string {
  const first = text.split("\n", 1)[0]!;
  const cut = first.length > MOST_CHARS || first.length < text.length;
  return visible(first.slice(0, MOST_CHARS), "\t") + (cut ? " …" : "");
}
