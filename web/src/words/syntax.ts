/** The syntax of a line of code, as ranges to colour. The text itself is never touched. */

export type Kind = "comment" | "string" | "number" | "word";

export interface Range {
  start: number;
  end: number;
  kind: Kind;
}

interface Delimited {
  open: string;
  close: string;
  kind: "comment" | "string";
}

export interface Language {
  /** What goes to the end of its line. */
  lines: string[];
  /** What may go on in the next line. */
  blocks: Delimited[];
  quotes: string;
  words: RegExp;
}

const WORDS =
  "False None True abstract and as assert async await bool boolean break case catch char class const continue def default defer del delete do double elif else " +
  "enum except export extends extern false finally float fn for from func function global go if impl implements import in instanceof int interface " +
  "is lambda let long match mod mut namespace new nil none nonlocal not null or override package pass private protected pub public raise readonly " +
  "return self static string struct super switch this throw trait true try type typeof undefined unsafe use using var void when where while with yield";
const SHELL = "case do done echo elif else esac exit export false fi for function if in local return set source then true until while";
const SQL =
  "add alter and as asc begin between by case commit create cross default delete desc distinct drop else end exists foreign from full group having in " +
  "index inner insert into is join key left like limit not null on or order outer primary references right rollback select set table then union unique " +
  "update values view when where with";

const block = (open: string, close: string, kind: Delimited["kind"] = "comment"): Delimited => ({ open, close, kind });
const oneOf = (words: string, flags = "y") => new RegExp(`(?:${words.replaceAll(" ", "|")})\\b`, flags);

const C: Language = { lines: ["//"], blocks: [block("/*", "*/")], quotes: "\"'", words: oneOf(WORDS) };
const SCRIPT: Language = { ...C, blocks: [...C.blocks, block("`", "`", "string")] };
const PYTHON: Language = { lines: ["#"], blocks: [block('"""', '"""', "string"), block("'''", "'''", "string")], quotes: "\"'", words: oneOf(WORDS) };
const HASH: Language = { lines: ["#"], blocks: [], quotes: "\"'", words: oneOf(SHELL) };
const NAMES: Language = { ...HASH, words: /(?:true|false|null|yes|no)\b|[\w.-]+(?=\s*[:=])|\[[\w."-]+\](?=\s*$)/y };
const STYLE: Language = { ...C, lines: [], words: /[@.#]?[a-z-]+(?=\s*[:{(])/iy };
const MARKUP: Language = { lines: [], blocks: [block("<!--", "-->")], quotes: '"', words: /<\/?[\w:-]+(?!\ufe0f)|\/?>/y };
const QUERY: Language = { lines: ["--"], blocks: [block("/*", "*/")], quotes: "'\"", words: oneOf(SQL, "iy") };

const BY_ENDING: [Language, string][] = [
  [SCRIPT, "js mjs cjs jsx ts mts cts tsx vue svelte go"],
  [C, "c h cc cpp cxx hpp cs java kt kts scala swift rs dart php zig proto groovy gradle json jsonc"],
  [PYTHON, "py pyi pyx"],
  [HASH, "sh bash zsh fish rb pl r ex exs tf hcl nix dockerfile makefile mk"],
  [NAMES, "toml yaml yml ini cfg conf properties env service"],
  [STYLE, "css scss less"],
  [MARKUP, "html htm xml svg"],
  [QUERY, "sql lua"],
];
const LANGUAGES = new Map(BY_ENDING.flatMap(([language, endings]) => endings.split(" ").map((ending): [string, Language] => [ending, language])));

/** The language of a file by its name; none for texts and for what is not known. */
export function languageOf(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return LANGUAGES.get(name.slice(name.lastIndexOf(".") + 1));
}

// An emoji such as `1\ufe0f\u20e3` begins like a number.
const NUMBER = /\d[\w.]*(?!\ufe0f)\b/y;
const NAME = /[\p{L}\p{N}_$]+/uy;
/** What stands before `#` or `//` that begins no comment, as in `$#` and `http://`. */
const INSIDE = /[\w$:{&]/;

/** The ranges of one line, and what is still open at its end. */
export function rangesOf(line: string, language: Language, opened: Delimited | null = null): { ranges: Range[]; open: Delimited | null } {
  const ranges: Range[] = [];
  let [at, open] = [0, opened];
  const add = (kind: Kind, end: number) => {
    if (end > at) ranges.push({ start: at, end, kind });
    at = end;
  };
  /** To the end of what is open, which is searched for behind its beginning. */
  const close = ({ close: end, kind }: Delimited, skip: number) => {
    const found = line.indexOf(end, at + skip);
    if (found >= 0) open = null;
    add(kind, found < 0 ? line.length : found + end.length);
  };
  const length = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(line)?.[0].length ?? 0;
  };
  if (open) close(open, 0);
  while (at < line.length) {
    const begins = (start: string) => line.startsWith(start, at);
    if (language.lines.some(begins) && !INSIDE.test(line[at - 1] ?? "")) add("comment", line.length);
    else if ((open = language.blocks.find((one) => begins(one.open)) ?? null)) close(open, open.open.length);
    else if (language.quotes.includes(line[at]!)) {
      const end = endOfString(line, at);
      if (end) add("string", end);
      else at++;
    } else {
      const [word, number, name] = [length(language.words), length(NUMBER), length(NAME)];
      if (word > 0 && word >= name) add("word", at + word);
      else if (number > 0) add("number", at + number);
      else at += name || 1;
    }
  }
  return { ranges, open };
}

/** Behind the closing quote; 0 where there is none. */
function endOfString(line: string, at: number): number {
  for (let end = at + 1; end < line.length; end++) {
    if (line[end] === "\\") end++;
    else if (line[end] === line[at]) return end + 1;
  }
  return 0;
}
