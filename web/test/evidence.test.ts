import { expect, test } from "vitest";

import { extentOf, fileOf, isCut, partsOf, stepsIn, stepsOf } from "../src/words/evidence";

const DRAFT = `a draft of 2 steps
step 1    Write 1 line to a.py
step 12   Run pytest (exit code 1)
calls    exe_1 exe_2
[git] new commit “x”
[changed] a.py: 2 bytes
[added] a.py: b: 1 bytes
[diff] a.py
--- a/a.py
+++ b/a.py
@@ -1,1 +1,1 @@
-1
+2
[diff] a.py: b
--- /dev/null
+++ b/a.py: b
@@ -0,0 +1,2 @@
+[diff] c
++++ b/c
[content not shown: d.bin]
`;

test("evidence falls into lines and the diffs of files, and nothing is lost", () => {
  const parts = partsOf(DRAFT);
  expect(parts.map((one) => one.path)).toEqual([null, "a.py", "a.py: b", null]);
  expect(parts.map((one) => (one.head === null ? "" : `${one.head}\n`) + one.text).join("")).toBe(DRAFT);
});

test("a diff alone is one part, with the name that its file has afterwards", () => {
  const path = (text: string) => partsOf(text).map((one) => one.path);
  expect(path("--- a/x\n+++ b/y\n+z\n")).toEqual(["y"]);
  expect(path("--- a/x\n+++ /dev/null\n-z\n")).toEqual(["x"]);
  expect(path("--- /dev/null\n+++ b/y\n+z\n")).toEqual(["y"]);
});

test("no content of a file begins another file", () => {
  const text = "runs     x\n[diff] a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- a/b\n+++ b/b\n+[diff] c\n [content not shown: c]\n";
  expect(partsOf(text).map((one) => one.path)).toEqual([null, "a"]);
  expect(partsOf("[diff] a\nno diff\n").map((one) => one.path)).toEqual([null]);
});

test("a step has its number, its title, how it ended and its call", () => {
  expect(stepsOf(DRAFT)).toEqual([
    { number: 1, label: "step 1    ", title: "Write 1 line to a.py", ending: "", toolId: "exe_1" },
    { number: 12, label: "step 12   ", title: "Run pytest", ending: " (exit code 1)", toolId: "exe_2" },
  ]);
  expect(stepsOf("--- a/x\n+++ b/x\n+step 1    z\n")).toEqual([]);
  expect(stepsOf("[step 1] x\nruns     step 1    x\n")).toEqual([]);
});

test("where the call of one step is missing, none is guessed", () => {
  const told = [...stepsIn(["step 1    a", "step 2    b", "calls    exe_1"]).values()];
  expect(told.map((one) => one.toolId)).toEqual([null, null]);
});

test("a line of the list leads to the file that it names in full", () => {
  const paths = ["a.py", "a.py: b"];
  expect(fileOf("[changed] a.py: 2 bytes", paths)).toBe("a.py");
  expect(fileOf("[added] a.py: b: 1 bytes", paths)).toBe("a.py: b");
  expect(fileOf("[changed] a.pyc: 2 bytes", paths)).toBeNull();
  expect(fileOf("runs     a.py", paths)).toBeNull();
});

test("what all diffs change is counted, and what is left out is known", () => {
  expect(extentOf(DRAFT)).toMatchObject({ added: 3, removed: 1 });
  expect(extentOf("runs     x\n")).toBeNull();
  expect(isCut(DRAFT)).toBe(true);
  expect(isCut("[diff] a\n--- a/a\n+++ b/a\n+x\n")).toBe(false);
  expect(isCut("[diff] a\n--- a/a\n+++ b/a\n[9 added lines not shown]\n")).toBe(true);
});
