import { expect, test } from "vitest";

import { wayOut } from "../src/analytics/way-out";
import { agentName } from "../src/words/agent";
import { readCall } from "../src/words/call";
import { glance } from "../src/words/glance";
import { machineName } from "../src/words/machine";
import { quoted } from "../src/words/quoted";
import { clock, duration } from "../src/words/time";
import { visible } from "../src/words/visible";

const TOOLS = new Set(["read_file", "write_file", "git"]);

test("unseen characters are shown, and others left alone", () => {
  expect(visible("a\u202eb\u200bc\x1b[2J\u00a0d")).toBe("a\\u{202e}b\\u{200b}c\\x1b[2J\\xa0d");
  expect(visible("日本 é\t", "\t")).toBe("日本 é\t");
});

test("an emoji is drawn whole, and a joiner elsewhere is spelled out", () => {
  for (const emoji of ["⚠\ufe0f", "1\ufe0f\u20e3", "🕵\ufe0f\u200d♂\ufe0f", "👩🏽\u200d💻"]) {
    expect(visible(`Fix ${emoji} it`)).toBe(`Fix ${emoji} it`);
  }
  expect(visible("a\ufe0f 🙂\u200d b")).toBe("a\\u{fe0f} 🙂\\u{200d} b");
});

test("what is typed is a call of a tool, or a line for a shell", () => {
  expect(readCall("read_file path=.env", TOOLS)).toEqual({ tool_name: "read_file", tool_params: { path: ".env" } });
  expect(readCall('write_file {"path": "a", "content": "b"}', TOOLS)?.tool_params).toEqual({ path: "a", content: "b" });
  expect(readCall("git status", TOOLS)).toEqual({ tool_name: "run_bash", tool_params: { command: "git status" } });
  expect(readCall("read_file path", TOOLS)).toBeNull();
});

test("words are quoted as a shell would need it", () => {
  expect(["a.txt", "a b", "it's"].map(quoted)).toEqual(["a.txt", "'a b'", "'it'\\''s'"]);
});

test("a call reads as it would be typed", () => {
  expect(glance("git", { action: "push", args: ["origin", "main"] })).toBe("git push origin main");
  expect(glance("git", { action: "commit", args: ["-m", "Fix tax", "shop.py"] })).toBe("git commit -m 'Fix tax' shop.py");
  expect(glance("execute_command", { command: "npm", args: ["test"] })).toBe("npm test");
  expect(glance("write_file", { path: "docs/long.md" })).toBe("docs/long.md");
  expect(glance("list_skills", {})).toBe("list_skills");
});

test("agents and machines are named, or shown by the end of their id", () => {
  expect(agentName({ agent_id: "agt_0123456789", agent_name: "Claude on my laptop" })).toBe("Claude on my laptop");
  expect(agentName({ agent_id: "agt_0123456789", agent_name: null })).toBe("agent …456789");
  expect(machineName({ client_id: "cli_0123456789", client_name: "laptop" })).toBe("laptop");
  expect(machineName({ client_id: "cli_0123456789", client_name: null })).toBe("machine …456789");
});

test("a way to be asked less is offered only where there is one", () => {
  const refusal = { text: "…", file: "policy.toml", covers: "…" };
  const counts = { class_words: "writes to *.md", tool_name: "write_file", risk_level: "MEDIUM", refusal, asked: 7, approved: 0, refused: 0, expired: 0 };
  expect(wayOut({ ...counts, approved: 7 })).toEqual({ refuses: false, button: "Stop being asked…" });
  expect(wayOut({ ...counts, approved: 2, refused: 5 })).toEqual({ refuses: true, button: "Always refuse this…" });
  expect(wayOut({ ...counts, expired: 7 })?.refuses).toBe(false);
  expect(wayOut({ ...counts, class_words: null, refusal: null, approved: 7 })).toBeNull();
});

test("times are short", () => {
  expect([0, 61, 3_761].map(clock)).toEqual(["0:00", "1:01", "1:02:41"]);
  expect([340, 2_400, 190_000].map(duration)).toEqual(["340 ms", "2.4 s", "3:10 min"]);
});
