import { expect, test } from "vitest";

import { rowsOf } from "../src/words/diff";
import { segmentsOf } from "../src/words/segments";
import { languageOf, rangesOf } from "../src/words/syntax";
import { visible } from "../src/words/visible";

function coloured(path: string, line: string): string[] {
  const { ranges } = rangesOf(line, languageOf(path)!);
  return ranges.map(({ start, end, kind }) => `${kind} ${line.slice(start, end)}`);
}

test("words, numbers, texts and comments of a language are found", () => {
  expect(coloured("a.py", "if x1 == 2.5: return 'a # b'  # no \"end")).toEqual(["word if", "number 2.5", "word return", "string 'a # b'", 'comment # no "end']);
  expect(coloured("a.ts", 'const url = "http://x\\"y"; // why')).toEqual(["word const", 'string "http://x\\"y"', "comment // why"]);
  expect(coloured("a.sh", 'if [ $# -gt 1 ]; then echo "$1"; fi # ok')).toEqual(["word if", "number 1", "word then", "word echo", 'string "$1"', "word fi", "comment # ok"]);
  expect(coloured("a.toml", 'retries = 5 # more')).toEqual(["word retries", "number 5", "comment # more"]);
  expect(coloured("a.sql", "SELECT id from t -- all")).toEqual(["word SELECT", "word from", "comment -- all"]);
  expect(coloured("a.html", '<a href="x">1</a>')).toEqual(["word <a", 'string "x"', "word >", "number 1", "word </a", "word >"]);
});

test("names that hold a word, and quotes without an end, are no syntax", () => {
  expect(coloured("a.py", "information = format_if(it's)")).toEqual([]);
});

test("a comment that goes on is followed on its own side", () => {
  const rows = rowsOf("--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n-int a; /* old\n+int a;\n if\n+int b;\n").slice(2);
  const kinds = segmentsOf(rows, languageOf("x.c")).map((one) => one.map((segment) => segment.kind));
  expect(kinds[1]).toContain("comment");
  expect(kinds[3]).toEqual(["word"]);
  expect(segmentsOf(rowsOf("--- a/x.c\n+++ b/x.c\n+/* a\n+if\n@@ -9 +9 @@\n+if\n"), languageOf("x.c")).map((one) => one[0]?.kind)).toEqual([null, null, "comment", "comment", null, "word"]);
});

test("texts and unknown files have no colours", () => {
  expect([languageOf("README.md"), languageOf("notes"), languageOf("a.toml/b")]).toEqual([undefined, undefined, undefined]);
  expect(languageOf("deep/Dockerfile")).toBeDefined();
});

const ODD = ["", "\"", "'", "`", "/*", "*/", "//", "#", "--", "<!--", "<a", "\\", "é1", "1\ufe0f\u20e3", "👩🏽\u200d💻", "\u202e", "if", " ", "\t", "a.b = 1", '"""', "\u200b"];

test("whatever is coloured, the text stays as it is", () => {
  const endings = ["py", "ts", "c", "sh", "toml", "css", "html", "sql"];
  for (let seed = 0; seed < 3_000; seed++) {
    const pick = (at: number) => ODD[Math.floor(seed / ODD.length ** at + at * 11 * seed) % ODD.length]!;
    const line = [0, 1, 2, 3, 4].map(pick).join("");
    const rows = rowsOf(`--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${line}\n+${line}x\n`);
    for (const ending of endings) {
      const drawn = segmentsOf(rows, languageOf(`x.${ending}`)).map((one) => one.map((segment) => segment.text).join(""));
      expect(drawn).toEqual(rows.map((row) => row.text));
      const [alone] = segmentsOf([{ kind: "add", sign: "+", text: line }], languageOf(`x.${ending}`));
      expect(alone!.map((segment) => visible(segment.text)).join("")).toEqual(visible(line));
    }
  }
});

test("a line that is long, or made to be slow, is cut in a moment", () => {
  for (const line of ["a-".repeat(500), "'".repeat(999), `${"a".repeat(990)}!`, "/*".repeat(500), "x".repeat(100_000)]) {
    const rows = rowsOf(`--- a/x\n+++ b/x\n${`+${line}\n`.repeat(20)}`);
    const began = performance.now();
    segmentsOf(rows, languageOf("x.toml"));
    segmentsOf(rows, languageOf("x.ts"));
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});
