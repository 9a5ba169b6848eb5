import { expect, test } from "vitest";

import { outcomeOf } from "../src/words/outcome";

test("a command that exits with another code than 0 is never shown as done", () => {
  expect(outcomeOf({ status: "completed", exit_code: 0 })).toEqual({ state: "completed", words: "done", tone: "good" });
  expect(outcomeOf({ status: "completed", exit_code: 1 })).toEqual({ state: "exited", words: "exit 1", tone: "bad" });
  expect(outcomeOf({ status: "completed", result: { exit_code: 2, success: false } }).words).toBe("exit 2");
  expect(outcomeOf({ status: "completed", exit_code: -9 }).words).toBe("killed by signal 9");
});

test("a result without an exit code says by itself whether it succeeded", () => {
  expect(outcomeOf({ status: "completed", exit_code: null, result: { success: false } }).tone).toBe("bad");
  expect(outcomeOf({ status: "completed", exit_code: null, result: { content: "x" } }).tone).toBe("good");
});

test("only a call that succeeded has the good tone", () => {
  const statuses = ["pending", "awaiting_approval", "approved", "executing", "rejected", "timeout", "failed", "new to this page"];
  expect(statuses.map((status) => outcomeOf({ status }).tone)).not.toContain("good");
  expect(outcomeOf({ status: "failed", error_type: "denied" }).words).toBe("refused by a rule");
  expect(outcomeOf({ status: "failed", error_type: "validation" }).words).toBe("invalid parameters");
  expect(outcomeOf(undefined).tone).toBe("quiet");
});
