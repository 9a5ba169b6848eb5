import { expect, test } from "vitest";

import { readCall } from "../src/words/call";
import { quoted } from "../src/words/quoted";
import { clock, duration } from "../src/words/time";
import { visible } from "../src/words/visible";

const TOOLS = new Set(["read_file", "write_file", "git"]);

test("unseen characters are shown, and others left alone", () => {
  expect(visible("a\u202eb\u200bc\x1b[2J\u00a0d")).toBe("a\\u{202e}b\\u{200b}c\\x1b[2J\\xa0d");
  expect(visible("日本 é\t", "\t")).toBe("日本 é\t");
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

test("times are short", () => {
  expect([0, 61, 3_761].map(clock)).toEqual(["0:00", "1:01", "1:02:41"]);
  expect([340, 2_400, 190_000].map(duration)).toEqual(["340 ms", "2.4 s", "3:10 min"]);
});
