// Counted among the letters, marks and signs, and yet nothing is seen of them.
const BLANK =
  "\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0" +
  "\\u{16fe4}\\u{1d159}\\u{e0100}-\\u{e01ef}";

// What emoji are made of, as the server has it in core/visible.py.
const PICTURE =
  "[\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2194-\\u2199\\u21a9\\u21aa\\u231a\\u231b\\u2328\\u23cf" +
  "\\u23e9-\\u23f3\\u23f8-\\u23fa\\u24c2\\u25aa\\u25ab\\u25b6\\u25c0\\u25fb-\\u25fe\\u2600-\\u27bf\\u2934" +
  "\\u2935\\u2b05-\\u2b07\\u2b1b\\u2b1c\\u2b50\\u2b55\\u3030\\u303d\\u3297\\u3299" +
  "\\u{1f000}-\\u{1faff}]";
const ELEMENT = `${PICTURE}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]?`;
const EMOJI = `${ELEMENT}(?:\\u200d${ELEMENT})*|[0-9#*]\\ufe0f\\u20e3`;

// An emoji is taken whole and first, so that the joiners and selectors within it are left.
const UNSEEN = new RegExp(`${EMOJI}|([\\p{C}\\p{Zl}\\p{Zp}${BLANK}]|(?! )\\p{Zs})`, "gu");

/** Control, bidirectional and other unseen characters as escapes, but for those in `keep`. */
export function visible(text: string, keep = ""): string {
  return text.replace(UNSEEN, (found: string, char?: string) =>
    char === undefined || keep.includes(char) ? found : escaped(char),
  );
}

function escaped(char: string): string {
  const number = char.codePointAt(0) ?? 0;
  const hex = number.toString(16);
  return number < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}
