import { expect, test } from "vitest";

import { countOf, isDiff, rowsOf } from "../src/words/diff";

const DIFF = `--- a/x.toml
+++ b/x.toml
@@ -1,3 +1,3 @@
 [a]
-retries = 3
+retries = 5
-tls = true
+tls = false
`;

test("a diff is known by its first lines", () => {
  expect(isDiff(DIFF)).toBe(true);
  expect(isDiff("--- a/x\nno second line")).toBe(false);
});

test("rows carry the numbers of both sides", () => {
  const rows = rowsOf(DIFF).filter((row) => row.kind !== "file" && row.kind !== "hunk");
  expect(rows.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ["same", 1, 1],
    ["del", 2, undefined],
    ["add", undefined, 2],
    ["del", 3, undefined],
    ["add", undefined, 3],
  ]);
});

test("only the words that differ are marked", () => {
  const marked = rowsOf(DIFF).flatMap((row) => row.pieces?.filter((piece) => piece.changed).map((piece) => piece.text) ?? []);
  expect(marked).toEqual(["3", "5", "true", "false"]);
});

test("a line of the file that looks like a head is a line", () => {
  const rows = rowsOf("--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n--- b\n+++ a\n");
  expect(rows.slice(3).map(({ kind, text }) => [kind, text])).toEqual([
    ["del", "-- b"],
    ["add", "++ a"],
  ]);
});

test("lines that are only told of are counted, and a cut is said", () => {
  const told = rowsOf("--- a/x\n+++ b/x\n@@ -1,1201 +1,1 @@\n-a\n[1,200 more lines are removed]\n+b\n");
  expect(countOf(told)).toEqual({ added: 1, removed: 1_201, cut: false });
  expect(countOf(rowsOf(`${DIFF}[the rest is too long to be shown]\n`)).cut).toBe(true);
});
