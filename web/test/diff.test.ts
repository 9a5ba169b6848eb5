import { expect, test } from "vitest";

import { countOf, isDiff, linesOf, pairsOf, rowsOf, type Pair, type Row } from "../src/words/diff";

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

test("lines that are not shown are counted, and the diff is known to be cut", () => {
  const told = rowsOf("--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n[1,200 removed lines not shown]\n@@ -1202,0 +1,1 @@\n+b\n[1 added line not shown]\n");
  expect(countOf(told)).toEqual({ added: 2, removed: 1_201, hidden: 1_201, cut: true });
  expect(countOf(rowsOf(`${DIFF}[3,000 characters in the middle of this line not shown]\n`))).toEqual({ added: 2, removed: 2, hidden: 0, cut: true });
});

test("content of a file that looks like a note hides and counts nothing", () => {
  const rows = rowsOf("--- a/x\n+++ b/x\n@@ -0,0 +1,3 @@\n+[9 added lines not shown]\n+@@ -1 +1 @@\n++++ b/y\n");
  expect(countOf(rows)).toEqual({ added: 3, removed: 0, hidden: 0, cut: false });
});

test("a change without a hunk is still drawn and counted", () => {
  const rows = rowsOf("--- a/x\n+++ b/x\n[too large to compare]\n+evil()\n");
  expect(rows.slice(2).map(({ kind, text }) => [kind, text])).toEqual([
    ["note", "[too large to compare]"],
    ["add", "evil()"],
  ]);
  expect(countOf(rows).added).toBe(1);
});

const STARTS = ["", " ", "+", "-", "\\", "[", "@@ -1,2 +3,4 @@", "@@", "--- ", "+++ ", "[5 added lines not shown]", "diff --git", "\r", "\t", "\u2028"];

test("the rows of any text are its lines", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const pick = (at: number) => STARTS[Math.floor(seed / STARTS.length ** at + at * 7 * seed) % STARTS.length]!;
    const text = [0, 1, 2, 3, 4].map((at) => pick(at) + (seed % (at + 2) ? "x" : "")).join("\n");
    for (const whole of [text, `--- a/x\n+++ b/x\n${text}`, `--- a/x\n${text}\n`]) {
      expect(rowsOf(whole).map((row) => row.sign + row.text)).toEqual(linesOf(whole));
      expect(linesOf(whole).join("\n")).toBe(whole.replace(/\n$/, ""));
    }
  }
});

test("both sides have their lines in order, and the other rows stay between them", () => {
  const rows = rowsOf("--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@\n a\n-b\n-c\n+d\n[5 added lines not shown]\n+e\n-f\n\\ No newline at end of file\n").slice(2);
  const drawn = pairsOf(rows).map((one) => ("kind" in one ? one.text : [one.before?.text, one.after?.text]));
  expect(drawn).toEqual(["@@ -1,4 +1,3 @@", ["a", "a"], ["b", "d"], ["c", undefined], "[5 added lines not shown]", [undefined, "e"], ["f", undefined], "\\ No newline at end of file"]);
});

test("side by side, no row of any text is left out", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const pick = (at: number) => STARTS[Math.floor(seed / STARTS.length ** at + at * 5 * seed) % STARTS.length]!;
    const rows = rowsOf(`--- a/x\n+++ b/x\n${[0, 1, 2, 3, 4, 5].map(pick).join("\n")}`);
    const drawn = pairsOf(rows);
    const side = (of: (one: Pair) => Row | undefined) => drawn.flatMap((one) => ("kind" in one ? [one] : (of(one) ?? [])));
    expect(side((one) => one.before)).toEqual(rows.filter((row) => row.kind !== "add"));
    expect(side((one) => one.after)).toEqual(rows.filter((row) => row.kind !== "del"));
  }
});
