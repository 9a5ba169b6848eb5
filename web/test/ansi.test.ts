import { expect, test } from "vitest";

import { linesOf } from "../src/words/ansi";

const texts = (output: string) => linesOf(output).map((line) => line.map((piece) => piece.text).join(""));

test("colours and weights act, and end where they end", () => {
  const [line] = linesOf("\x1b[1;31mred\x1b[0m plain");
  expect(line).toMatchObject([
    { text: "red", colour: "red", bold: true },
    { text: " plain", colour: null, bold: false },
  ]);
});

test("no colour is the colour of the ground, and nothing is hidden", () => {
  const looks = linesOf("\x1b[30mblack\x1b[37mwhite\x1b[8mhidden\x1b[38;2;0;0;0mnone").flat();
  expect(looks.map((piece) => piece.text)).toEqual(["black", "white", "hidden", "none"]);
  expect(looks.every((piece) => piece.colour === null)).toBe(true);
});

test("what a carriage return would write over stays", () => {
  expect(texts("rm -rf /\rls\nend\r\n")).toEqual(["rm -rf /\r", "ls", "end"]);
});

test("other escapes stay text", () => {
  expect(texts("\x1b[2J\x1b]0;title\x07x")).toEqual(["\x1b[2J\x1b]0;title\x07x"]);
});

test("a line without end is cut into many", () => {
  expect(texts("x".repeat(5_000)).map((line) => line.length)).toEqual([2_000, 2_000, 1_000]);
});
