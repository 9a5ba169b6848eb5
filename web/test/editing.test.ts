import { expect, test } from "vitest";

import { fieldOf, valueOf } from "../src/words/editing";

test.each<{ value: string | string[] }>([
  { value: "" },
  { value: "one line" },
  { value: "one\ntwo\n" },
  { value: "dos\r\nlines\r\n" },
  { value: "\ttabs and blanks  \n\n" },
  { value: [] },
  { value: ["build", "-j"] },
  { value: ["", "after an empty one"] },
])("what is not changed comes back as it was: $value", ({ value }) => {
  const field = fieldOf(value);
  expect(field).not.toBeNull();
  expect(valueOf(value, field!)).toEqual(value);
});

test.each(["mixed\r\nends\n", "a carriage\rreturn", "\r\n\n"])("a text that a field would change is not put into one", (value) => {
  expect(fieldOf(value)).toBeNull();
});

test("a list that lines cannot hold is not put into a field", () => {
  expect(fieldOf(["two\nlines"])).toBeNull();
  expect(fieldOf([""])).toBeNull();
  expect(fieldOf([1])).toBeNull();
});

test("the line ends of a file stay as they were", () => {
  expect(valueOf("a\r\nb\r\n", "a\nnew\nb\n")).toBe("a\r\nnew\r\nb\r\n");
});

test("each line of a list is an item", () => {
  expect(valueOf(["build"], "test\n-x")).toEqual(["test", "-x"]);
});
