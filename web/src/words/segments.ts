/** Lines of a diff in segments of one look each: the syntax of their language over the words that changed. */

import type { Row } from "./diff";
import { rangesOf, type Kind, type Language, type Range } from "./syntax";

export interface Segment {
  text: string;
  changed: boolean;
  kind: Kind | null;
}

// A longer line is no code that a person reads.
const LONGEST = 1_000;

/** The segments of every row. A comment or a text that goes on is followed on both sides of a hunk. */
export function segmentsOf(rows: Row[], language: Language | undefined): Segment[][] {
  let [before, after]: [ReturnType<typeof rangesOf>["open"], ReturnType<typeof rangesOf>["open"]] = [null, null];
  return rows.map((row) => {
    if (row.kind === "hunk") [before, after] = [null, null];
    if (!language || !row.sign || row.text.length > LONGEST) return cut(row, []);
    const { ranges, open } = rangesOf(row.text, language, row.kind === "del" ? before : after);
    if (row.kind !== "add") before = open;
    if (row.kind !== "del") after = open;
    return cut(row, ranges);
  });
}

/** The text of a row, cut where a range or a changed word begins or ends. */
function cut(row: Row, ranges: Range[]): Segment[] {
  const segments: Segment[] = [];
  let [at, next] = [0, 0];
  for (const { text, changed } of row.pieces ?? [{ text: row.text, changed: false }]) {
    for (const end = at + text.length; at < end; ) {
      while (ranges[next] && ranges[next]!.end <= at) next++;
      const range = ranges[next];
      const inside = range && range.start <= at ? range : null;
      const to = Math.min(end, inside ? inside.end : (range?.start ?? end));
      segments.push({ text: row.text.slice(at, to), changed, kind: inside?.kind ?? null });
      at = to;
    }
  }
  return segments;
}
