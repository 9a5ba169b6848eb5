/** Reads what a person types to try: a call of a tool, or else a shell command. */

export interface TypedCall {
  tool_name: string;
  tool_params: Record<string, unknown>;
}

const SHELL = "run_bash";

export const HOW_TO_CALL = "after the name of a tool, write name=value pairs or a JSON object";

/** `read_file path=.env`, `write_file {"path": …}`, or any command line; null where it is a call that cannot be read. */
export function readCall(text: string, tools: ReadonlySet<string>): TypedCall | null {
  const line = text.trim();
  const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
  if (!tools.has(name) || !isMeant(name, rest)) return { tool_name: SHELL, tool_params: { command: line } };
  const params = readObject(rest) ?? readPairs(rest);
  return params && { tool_name: name, tool_params: params };
}

/** Some tools are called like programs, `git` among them: what follows tells which is meant. */
function isMeant(name: string, rest: string): boolean {
  return name.includes("_") || /^(\{|[A-Za-z_]\w*=)/.test(rest);
}

function readObject(text: string): Record<string, unknown> | null {
  if (text === "") return {};
  const value = readJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

/** `name=value` pairs; quotes hold a value together, and one that is JSON counts as such. */
function readPairs(text: string): Record<string, unknown> | null {
  const pair = /([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']\S*|(?=\s|$))(?:\s+|$)/sy;
  const params: Record<string, unknown> = {};
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text);
    if (!found) return null;
    const [, name = "", value = ""] = found;
    params[name] = value.startsWith("'") ? value.slice(1, -1) : (readJson(value) ?? value);
  }
  return params;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
