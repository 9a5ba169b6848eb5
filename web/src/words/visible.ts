// Counted among the letters, marks and signs, and yet nothing is seen of them.
const BLANK =
  "\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0" +
  "\\u{16fe4}\\u{1d159}\\u{e0100}-\\u{e01ef}";

const UNSEEN = new RegExp(`[\\p{C}\\p{Zl}\\p{Zp}${BLANK}]|(?! )\\p{Zs}`, "gu");

/** Control, bidirectional and other unseen characters as escapes, but for those in `keep`. */
export function visible(text: string, keep = ""): string {
  return text.replace(UNSEEN, (char) => (keep.includes(char) ? char : escaped(char)));
}

function escaped(char: string): string {
  const number = char.codePointAt(0) ?? 0;
  const hex = number.toString(16);
  return number < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}
