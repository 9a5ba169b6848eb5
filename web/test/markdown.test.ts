import { expect, test } from "vitest";

import { blocksOf, inlineOf } from "../src/words/markdown";

test("HTML is text", () => {
  expect(blocksOf("<script>alert(1)</script>")).toEqual([
    { kind: "paragraph", inner: [{ kind: "text", text: "<script>alert(1)</script>" }] },
  ]);
});

test("only addresses of the web become links", () => {
  const kinds = (text: string) => inlineOf(text).map((one) => one.kind);
  expect(kinds("[here](https://a.example/x)")).toContain("link");
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.example"]) {
    expect(kinds(`[here](${bad})`)).not.toContain("link");
  }
});

test("pictures are not fetched", () => {
  expect(JSON.stringify(blocksOf("![x](https://tracker.example/p.png)"))).not.toContain('"kind":"image"');
});

test("code is kept as it stands, also without its end", () => {
  expect(blocksOf("```py\na *b*")).toEqual([{ kind: "code", language: "py", text: "a *b*" }]);
});

test("lists, quotes and tables", () => {
  expect(blocksOf("- a\n- b\n\n> c\n\n| d |\n|---|\n| e |").map((block) => block.kind)).toEqual(["list", "quote", "table"]);
});

test("depth and length have bounds", () => {
  expect(blocksOf("> ".repeat(5_000)).length).toBeGreaterThan(0);
  expect(inlineOf("*".repeat(50_000)).length).toBeGreaterThan(0);
});

test("the words of a link are no link of their own, also when they look like one", () => {
  expect(inlineOf("[https://a.example **https://c.example**](https://b.example)")).toEqual([
    {
      kind: "link",
      href: "https://b.example",
      inner: [
        { kind: "text", text: "https://a.example " },
        { kind: "strong", inner: [{ kind: "text", text: "https://c.example" }] },
      ],
    },
  ]);
});
