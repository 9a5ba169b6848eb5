/** A unified diff as rows to draw, and the words that changed within lines that belong together. */

export interface Row {
  kind: "file" | "hunk" | "same" | "add" | "del" | "note";
  before?: number;
  after?: number;
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
// As the server says what it leaves out.
const NOT_SHOWN = /^\[([\d,]+) more lines are removed\]$/;
const CUT = /^\[(?:the rest is too long|too large to compare)/;

/** Whether a text reads like a unified diff. */
export function isDiff(text: string): boolean {
  return text.startsWith("--- ") && text.includes("\n+++ ");
}

export function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  let [before, after, inHunk] = [0, 0, false];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after, inHunk] = [Number(hunk[1]), Number(hunk[2]), true];
      rows.push({ kind: "hunk", text: line });
    } else if (!inHunk) {
      rows.push({ kind: "file", text: line });
    } else if (line.startsWith("+")) {
      rows.push({ kind: "add", after: after++, text: line.slice(1) });
    } else if (line.startsWith("-")) {
      rows.push({ kind: "del", before: before++, text: line.slice(1) });
    } else if (line.startsWith(" ") || line === "") {
      rows.push({ kind: "same", before: before++, after: after++, text: line.slice(1) });
    } else {
      rows.push({ kind: "note", text: line });
    }
  }
  return withWords(rows);
}

/** Whether the server has left lines out of a diff, counted or not. */
export function isCut(text: string): boolean {
  return isDiff(text) && rowsOf(text).some((row) => row.kind === "note" && (NOT_SHOWN.test(row.text) || CUT.test(row.text)));
}

/** How many lines come and go, also those that are only told of; `cut` where there are more than anybody has counted. */
export function countOf(rows: Row[]): { added: number; removed: number; cut: boolean } {
  const count = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind).length;
  const notes = rows.filter((row) => row.kind === "note").map((row) => row.text);
  const told = notes.map((note) => Number(NOT_SHOWN.exec(note)?.[1]?.replaceAll(",", "") ?? 0));
  return {
    added: count("add"),
    removed: told.reduce((sum, one) => sum + one, count("del")),
    cut: notes.some((note) => CUT.test(note)),
  };
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

function run(rows: Row[], at: number, kind: Row["kind"]): number {
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
