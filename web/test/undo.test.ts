import { expect, test } from "vitest";

import type { CallUndone } from "../src/api/types";
import { outcomeOf } from "../src/words/outcome";
import { toldOf } from "../src/words/undo";

const one = (status: string, reason = ""): CallUndone => ({ tool_id: "exe_1", tool_name: "write_file", status, reason, files: [], undone_at: null, undone_by: null });

test("an undo is told by its numbers", () => {
  expect(toldOf({ success: true, calls: [one("undone")] })).toEqual({ words: "1 call was undone.", bad: false });
  expect(toldOf({ success: true, calls: [one("undone"), one("undone_before"), one("undone")] }).words).toBe("2 calls were undone.");
  expect(toldOf({ success: true, calls: [one("undone_before")] }).words).toBe("It was undone before.");
});

test("an undo that met a changed file names it, and not what came of it", () => {
  const told = toldOf({ success: false, calls: [one("undone"), one("refused", "a.txt is gone"), one("not_tried", "a later call could not be undone")] });
  expect(told).toEqual({ words: "1 call was undone, 2 not: a.txt is gone.", bad: true });
});

test("a call that was undone is not shown as done", () => {
  expect(outcomeOf({ status: "completed", exit_code: 0, undone_at: "2026-01-01T00:00:00Z" })).toEqual({ state: "undone", words: "undone", tone: "quiet" });
});
