/** A unified diff as rows to draw, and the words that changed within lines that belong together. */

export interface Row {
  kind: "file" | "hunk" | "same" | "add" | "del" | "note" | "text";
  before?: number;
  after?: number;
  /** The first character of a line of the file: a space, `+` or `-`. Empty for all other rows. */
  sign: string;
  text: string;
  /** Pieces of the line; those that are `changed` differ from the other side. */
  pieces?: Piece[];
}

export interface Piece {
  text: string;
  changed: boolean;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const LONGEST_WORDED = 1_000;
// Lines of a file have a sign, so no content can pass for a note.
const NOTE = "[";
const NOT_SHOWN = /^\[([\d,]+) (added|removed) lines? not shown\]$/;

/** Whether a text reads like a unified diff. */
export function isDiff(text: string): boolean {
  return /^--- [^\n]*\n\+\+\+ /.test(text);
}

/** The lines of a text. A line end at its very end does not begin another line. */
export function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}

/** One row for every line of the text, in its order: the sign and the text of a row are the line. */
export function rowsOf(text: string): Row[] {
  return withWords(linedUp(text));
}

function linedUp(text: string): Row[] {
  const lines = linesOf(text);
  if (!isDiff(text)) return lines.map((line) => ({ kind: "text", sign: "", text: line }));
  let [before, after]: [number | undefined, number | undefined] = [undefined, undefined];
  const next = (side: "before" | "after") => {
    if (side === "before") return before === undefined ? {} : { before: before++ };
    return after === undefined ? {} : { after: after++ };
  };
  return lines.map((line, index): Row => {
    const hunk = HUNK.exec(line);
    if (index < 2) return { kind: "file", sign: "", text: line };
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      return { kind: "hunk", sign: "", text: line };
    }
    const [sign, rest] = [line.slice(0, 1), line.slice(1)];
    if (sign === "+") return { kind: "add", ...next("after"), sign, text: rest };
    if (sign === "-") return { kind: "del", ...next("before"), sign, text: rest };
    if (sign === " ") return { kind: "same", ...next("before"), ...next("after"), sign, text: rest };
    return { kind: sign === NOTE ? "note" : "text", sign: "", text: line };
  });
}

export interface Extent {
  /** Lines that come and go, shown or not. */
  added: number;
  removed: number;
  /** How many of them are not shown. */
  hidden: number;
  /** Whether anything is not shown: lines, or parts of them. */
  cut: boolean;
}

/** How much a diff changes, without the work of comparing words. */
export function extentOfDiff(text: string): Extent {
  return countOf(linedUp(text));
}

export function countOf(rows: Row[]): Extent {
  const extent: Extent = { added: 0, removed: 0, hidden: 0, cut: false };
  for (const { kind, text } of rows) {
    if (kind === "add") extent.added++;
    else if (kind === "del") extent.removed++;
    else if (kind === "note") {
      extent.cut = true;
      const [, told, verb] = NOT_SHOWN.exec(text) ?? [];
      const count = Number(told?.replaceAll(",", "") ?? 0);
      extent.hidden += count;
      if (verb === "added") extent.added += count;
      if (verb === "removed") extent.removed += count;
    }
  }
  return extent;
}

/** As many lines that go as come, side by side: each pair is compared word by word. */
function withWords(rows: Row[]): Row[] {
  for (let at = 0; at < rows.length; at++) {
    const gone = run(rows, at, "del");
    const come = run(rows, at + gone, "add");
    if (gone > 0 && gone === come) {
      for (let offset = 0; offset < gone; offset++) {
        compare(rows[at + offset]!, rows[at + gone + offset]!);
      }
    }
    at += Math.max(gone + come - 1, 0);
  }
  return rows;
}

/** How many rows of a kind follow each other. */
export function run(rows: Row[], at: number, kind: Row["kind"]): number {
  let length = 0;
  while (rows[at + length]?.kind === kind) length++;
  return length;
}

function compare(old: Row, young: Row): void {
  if (old.text.length > LONGEST_WORDED || young.text.length > LONGEST_WORDED) return;
  const [left, right] = [words(old.text), words(young.text)];
  const kept = longestCommon(left, right);
  old.pieces = pieces(left, kept.map(([index]) => index));
  young.pieces = pieces(right, kept.map(([, index]) => index));
}

function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The pairs of places that hold the same word, in order, as many as there can be. */
function longestCommon(left: string[], right: string[]): [number, number][] {
  const width = right.length + 1;
  const table = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const along = Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
      table[i * width + j] = left[i] === right[j] ? table[(i + 1) * width + j + 1]! + 1 : along;
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) pairs.push([i++, j++]);
    else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}

function pieces(all: string[], kept: number[]): Piece[] {
  const same = new Set(kept);
  const found: Piece[] = [];
  all.forEach((text, index) => {
    const changed = !same.has(index);
    const last = found.at(-1);
    if (last && last.changed === changed) last.text += text;
    else found.push({ text, changed });
  });
  return found;
}

/** Two rows side by side: what was there on the left, what comes on the right. */
export interface Pair {
  before: Row | undefined;
  after: Row | undefined;
}

/** The rows for a view with two sides, in their order. A row that belongs to no side takes the place of both. */
export function pairsOf(rows: Row[]): (Pair | Row)[] {
  const pairs: (Pair | Row)[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at]!;
    const gone = run(rows, at, "del");
    const come = run(rows, at + gone, "add");
    for (let offset = 0; offset < Math.max(gone, come); offset++) {
      const [before, after] = [at + offset, at + gone + offset];
      pairs.push({ before: offset < gone ? rows[before] : undefined, after: offset < come ? rows[after] : undefined });
    }
    if (gone + come === 0) pairs.push(row.kind === "same" ? { before: row, after: row } : row);
    at += Math.max(gone + come, 1);
  }
  return pairs;
}
