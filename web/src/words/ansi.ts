/** A terminal's output as lines of coloured pieces. Colours and weights act; all other escapes stay text. */

export type Colour = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "grey";

export interface Look {
  colour: Colour | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

export interface Piece extends Look {
  text: string;
}

const PLAIN: Look = { colour: null, bold: false, dim: false, italic: false, underline: false };
const STYLE = /\x1b\[([0-9;:]{0,64})m/g;
// Black and white are the page's own, so that nothing can hide in the colour of its ground.
const BASIC: (Colour | null)[] = [null, "red", "green", "yellow", "blue", "magenta", "cyan", null];
const LONGEST_LINE = 2_000;

export function linesOf(output: string): Piece[][] {
  const text = withWholeLines(output);
  const lines: Piece[][] = [[]];
  let look = PLAIN;
  let from = 0;
  for (const style of text.matchAll(STYLE)) {
    add(lines, text.slice(from, style.index), look);
    look = changed(look, style[1] ?? "");
    from = style.index + style[0].length;
  }
  add(lines, text.slice(from), look);
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** What a lone carriage return would have written over stays, on a line of its own. */
function withWholeLines(output: string): string {
  return output.replaceAll("\r\n", "\n").replaceAll("\r", "\r\n");
}

function add(lines: Piece[][], text: string, look: Look): void {
  text.split("\n").forEach((line, index) => {
    if (index > 0) lines.push([]);
    for (let at = 0; at < line.length; at += LONGEST_LINE) {
      if (at > 0) lines.push([]);
      lines.at(-1)!.push({ ...look, text: line.slice(at, at + LONGEST_LINE) });
    }
  });
}

function changed(before: Look, words: string): Look {
  const codes = words.split(/[;:]/).map(Number);
  let look = { ...before };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) look = { ...PLAIN };
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.underline = true;
    else if (code === 22) look.bold = look.dim = false;
    else if (code === 23) look.italic = false;
    else if (code === 24) look.underline = false;
    else if (code === 39) look.colour = null;
    else if (code >= 30 && code <= 37) look.colour = BASIC[code - 30]!;
    else if (code === 90) look.colour = "grey";
    else if (code >= 91 && code <= 97) look.colour = BASIC[code - 90]!;
    else if (code === 38 || code === 48) {
      const [colour, taken] = extended(codes.slice(at + 1, at + 5));
      if (code === 38) look.colour = colour;
      at += taken;
    }
  }
  return look;
}

/** One of many colours as the nearest of ours, and how many numbers it took to say it. */
function extended(codes: number[]): [Colour | null, number] {
  const [kind, first = 0, green = 0, blue = 0] = codes;
  if (kind === 2) return [nearest(first, green, blue), 4];
  if (kind !== 5) return [null, 0];
  if (first < 16) return [first === 8 ? "grey" : BASIC[first % 8]!, 2];
  if (first > 231) return ["grey", 2];
  const step = (divisor: number) => Math.floor((first - 16) / divisor) % 6 * 51;
  return [nearest(step(36), step(6), step(1)), 2];
}

function nearest(red: number, green: number, blue: number): Colour | null {
  const [least, most] = [Math.min(red, green, blue), Math.max(red, green, blue)];
  if (most - least < 40) return most > 100 && most < 200 ? "grey" : null;
  const half = (least + most) / 2;
  const bits = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return BASIC[bits]!;
}
