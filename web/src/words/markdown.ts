/** The markdown that models write, read into a tree. HTML and pictures are just text here. */

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em" | "gone"; inner: Inline[] }
  | { kind: "link"; href: string; inner: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; inner: Inline[] }
  | { kind: "heading"; level: number; inner: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

const DEEPEST = 6;
const LONGEST_INLINE = 20_000;
const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)/;
const HEADING = /^(#{1,6}) +(.*)$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +|$)/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;

export function blocksOf(text: string): Block[] {
  return read(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function read(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at]!.trim() === "") at++;
    else at = readBlock(lines, at, depth, blocks);
  }
  return blocks;
}

/** Reads one block from a line on; gives the line behind it. */
function readBlock(lines: string[], at: number, depth: number, blocks: Block[]): number {
  const line = lines[at]!;
  const fence = FENCE.exec(line);
  if (fence) return readCode(lines, at, fence[1]!, fence[2]!, blocks);
  const heading = HEADING.exec(line);
  if (heading) {
    blocks.push({ kind: "heading", level: heading[1]!.length, inner: inlineOf(heading[2]!) });
    return at + 1;
  }
  if (RULE.test(line)) {
    blocks.push({ kind: "rule" });
    return at + 1;
  }
  if (depth < DEEPEST && QUOTE.test(line)) {
    const end = endOf(lines, at, (one) => QUOTE.test(one));
    blocks.push({ kind: "quote", blocks: read(lines.slice(at, end).map((one) => one.replace(QUOTE, "")), depth + 1) });
    return end;
  }
  if (depth < DEEPEST && ITEM.test(line)) return readList(lines, at, depth, blocks);
  if (line.includes("|") && isRuleOfTable(lines[at + 1])) return readTable(lines, at, blocks);
  const end = Math.max(at + 1, endOf(lines, at + 1, (one, next) => one.trim() !== "" && !begins(one, next), at + 1));
  blocks.push({ kind: "paragraph", inner: inlineOf(lines.slice(at, end).join("\n")) });
  return end;
}

function begins(line: string, next: string | undefined): boolean {
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line)) return true;
  return line.includes("|") && isRuleOfTable(next);
}

function endOf(lines: string[], at: number, belongs: (line: string, next: string | undefined) => boolean, from = at): number {
  let end = from;
  while (end < lines.length && belongs(lines[end]!, lines[end + 1])) end++;
  return end;
}

/** Without an end, what is still being said is code to its last line. */
function readCode(lines: string[], at: number, fence: string, language: string, blocks: Block[]): number {
  let end = at + 1;
  while (end < lines.length && !isEndOfCode(lines[end]!, fence)) end++;
  blocks.push({ kind: "code", language, text: lines.slice(at + 1, end).join("\n") });
  return end + 1;
}

function isEndOfCode(line: string, fence: string): boolean {
  const found = line.trim();
  return found.length >= fence.length && found === fence[0]!.repeat(found.length);
}

function readList(lines: string[], at: number, depth: number, blocks: Block[]): number {
  const first = ITEM.exec(lines[at]!)!;
  const ordered = /\d/.test(first[2]!);
  const items: Block[][] = [];
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]!);
    if (!item || item[1]!.length > first[1]!.length + 1 || /\d/.test(item[2]!) !== ordered || RULE.test(lines[at]!)) break;
    if (item[1]!.length < first[1]!.length) break;
    const inset = item[0].length;
    const end = endOfItem(lines, at, item[1]!.length);
    const own = [lines[at]!.slice(inset), ...lines.slice(at + 1, end).map((one) => dedented(one, inset))];
    items.push(read(own, depth + 1));
    at = end;
    while (at + 1 < lines.length && lines[at]!.trim() === "" && ITEM.test(lines[at + 1]!)) at++;
  }
  blocks.push({ kind: "list", ordered, start: ordered ? Number.parseInt(first[2]!, 10) : 1, items });
  return at;
}

/** To an item belong the lines that are set in further, and those that just go on with its words. */
function endOfItem(lines: string[], at: number, indent: number): number {
  let end = at + 1;
  for (; end < lines.length; end++) {
    const line = lines[end]!;
    const inset = line.length - line.trimStart().length;
    if (line.trim() === "") {
      const next = lines[end + 1];
      if (next === undefined || next.trim() === "" || next.length - next.trimStart().length <= indent) break;
    } else if (inset <= indent && begins(line, lines[end + 1])) break;
    else if (inset <= indent && lines[end - 1]!.trim() === "") break;
  }
  return end;
}

function dedented(line: string, by: number): string {
  const inset = line.length - line.trimStart().length;
  return line.slice(Math.min(inset, by));
}

function isRuleOfTable(line: string | undefined): boolean {
  if (!line?.includes("-") || !line.includes("|")) return false;
  return cellsOf(line).every((cell) => /^:?-+:?$/.test(cell));
}

function cellsOf(line: string): string[] {
  return line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((cell) => cell.trim());
}

function readTable(lines: string[], at: number, blocks: Block[]): number {
  const end = endOf(lines, at, (one) => one.includes("|"), at + 2);
  const cells = (line: string) => cellsOf(line).map((cell) => inlineOf(cell));
  blocks.push({ kind: "table", head: cells(lines[at]!), rows: lines.slice(at + 2, end).map(cells) });
  return end;
}

export function inlineOf(text: string, depth = 0, isLink = false): Inline[] {
  if (text.length > LONGEST_INLINE || depth > DEEPEST) return [{ kind: "text", text }];
  return new Reader(text, depth, isLink).read();
}

const MARKS = { "**": "strong", __: "strong", "~~": "gone", "*": "em", _: "em" } as const;

/** Goes over a text once. What has no end is remembered, so that nobody looks for it again. */
class Reader {
  private at = 0;
  private plain = "";
  private readonly found: Inline[] = [];
  private readonly endless = new Set<string>();

  constructor(
    private readonly text: string,
    private readonly depth: number,
    /** Within the words of a link there is no other: one click leads to one place. */
    private readonly isLink: boolean,
  ) {}

  read(): Inline[] {
    while (this.at < this.text.length) {
      if (!(this.escape() || this.code() || this.anyLink() || this.marked() || this.lineBreak())) {
        this.plain += this.text[this.at++];
      }
    }
    this.flush();
    return this.found;
  }

  private escape(): boolean {
    const next = this.text[this.at + 1];
    if (this.text[this.at] !== "\\" || next === undefined || !/[!-/:-@[-`{-~]/.test(next)) return false;
    this.plain += next;
    this.at += 2;
    return true;
  }

  private code(): boolean {
    if (this.text[this.at] !== "`") return false;
    let length = 1;
    while (this.text[this.at + length] === "`") length++;
    const fence = "`".repeat(length);
    const end = this.end(fence, this.at + length);
    if (end < 0) {
      this.plain += fence;
      this.at += length;
      return true;
    }
    this.push({ kind: "code", text: this.text.slice(this.at + length, end) }, end + length);
    return true;
  }

  private anyLink(): boolean {
    return !this.isLink && (this.link() || this.address());
  }

  private link(): boolean {
    const picture = this.text.startsWith("![", this.at);
    if (!picture && this.text[this.at] !== "[") return false;
    const open = this.at + (picture ? 2 : 1);
    const middle = this.end("](", open);
    const end = middle < 0 ? -1 : this.end(")", middle + 2);
    if (end < 0 || end - this.at > 4_000) return false;
    const href = this.text.slice(middle + 2, end).split(/\s/, 1)[0]!;
    const words = this.text.slice(open, middle);
    if (words.includes("[") || !isAddress(href)) return false;
    this.push({ kind: "link", href, inner: inlineOf(words || href, this.depth + 1, true) }, end + 1);
    return true;
  }

  private address(): boolean {
    if (this.text[this.at] !== "h" || /[\w]/.test(this.text[this.at - 1] ?? " ")) return false;
    const found = /^https?:\/\/[^\s<>"'`|\\^{}[\]]{1,2000}/.exec(this.text.slice(this.at, this.at + 2_020));
    if (!found) return false;
    const href = found[0].replace(/[.,;:!?)*_]{1,9}$/, "");
    if (!isAddress(href)) return false;
    this.push({ kind: "link", href, inner: [{ kind: "text", text: href }] }, this.at + href.length);
    return true;
  }

  private marked(): boolean {
    for (const [mark, kind] of Object.entries(MARKS) as [keyof typeof MARKS, (typeof MARKS)[keyof typeof MARKS]][]) {
      if (!this.text.startsWith(mark, this.at)) continue;
      const open = this.at + mark.length;
      const within = mark[0] === "_" && /\w/.test(this.text[this.at - 1] ?? " ");
      if (within || /\s/.test(this.text[open] ?? " ")) return false;
      const end = this.end(mark, open);
      if (end <= open || /\s/.test(this.text[end - 1]!)) continue;
      if (mark[0] === "_" && /\w/.test(this.text[end + mark.length] ?? " ")) continue;
      this.push({ kind, inner: inlineOf(this.text.slice(open, end), this.depth + 1, this.isLink) }, end + mark.length);
      return true;
    }
    return false;
  }

  private lineBreak(): boolean {
    if (this.text[this.at] !== "\n") return false;
    const wanted = this.plain.endsWith("  ");
    this.plain = this.plain.trimEnd();
    if (wanted) this.push({ kind: "break" }, this.at + 1);
    else {
      this.plain += " ";
      this.at++;
    }
    return true;
  }

  private end(mark: string, from: number): number {
    if (this.endless.has(mark)) return -1;
    const found = this.text.indexOf(mark, from);
    if (found < 0) this.endless.add(mark);
    return found;
  }

  private push(one: Inline, behind: number): void {
    this.flush();
    this.found.push(one);
    this.at = behind;
  }

  private flush(): void {
    if (this.plain) this.found.push({ kind: "text", text: this.plain });
    this.plain = "";
  }
}

/** Only the web, and only in full: no other scheme can be followed from here. */
function isAddress(href: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(href).protocol);
  } catch {
    return false;
  }
}
