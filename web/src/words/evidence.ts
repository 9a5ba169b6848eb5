/** Evidence in its parts, in their order: lines of a plan or a list, and the diffs of files. */

import { extentOfDiff, isDiff, linesOf, type Extent } from "./diff";

export interface Part {
  /** The file of a diff; null for lines of a plan or a list. */
  path: string | null;
  /** The line that names the file, where there is one. */
  head: string | null;
  text: string;
}

// No content of a file begins with these: in a diff, its lines have a sign.
const BEGIN = "[diff] ";
const END = "[content not shown: ";

export function partsOf(evidence: string): Part[] {
  if (isDiff(evidence)) return [{ path: pathOf(evidence), head: null, text: evidence }];
  const all = linesOf(evidence);
  const parts: (Part & { lines: string[] })[] = [];
  const begin = (path: string | null, head: string | null) => parts.push({ path, head, text: "", lines: [] });
  all.forEach((line, at) => {
    if (line.startsWith(BEGIN) && isDiff(all.slice(at + 1, at + 3).join("\n"))) {
      begin(line.slice(BEGIN.length), line);
      return;
    }
    if (parts.length === 0 || (line.startsWith(END) && parts.at(-1)?.path !== null)) begin(null, null);
    parts.at(-1)!.lines.push(line);
  });
  return parts.map(({ path, head, lines }) => ({ path, head, text: `${lines.join("\n")}\n` }));
}

/** How much all diffs change together; null where there is none. */
export function extentOf(evidence: string): Extent | null {
  const extents = partsOf(evidence).flatMap((part) => (part.path === null ? [] : extentOfDiff(part.text)));
  if (extents.length === 0) return null;
  const sum = (of: (one: Extent) => number) => extents.reduce((all, one) => all + of(one), 0);
  return { added: sum((one) => one.added), removed: sum((one) => one.removed), hidden: sum((one) => one.hidden), cut: extents.some((one) => one.cut) };
}

/** Whether the evidence says that something of a file is not shown. */
export function isCut(evidence: string): boolean {
  return Boolean(extentOf(evidence)?.cut) || linesOf(evidence).some((line) => line.startsWith(END));
}

/** The file of a diff by its first two lines: its new name, if it has one. */
function pathOf(diff: string): string {
  const [before = "", after = ""] = diff.split("\n", 2);
  return (after === "+++ /dev/null" ? before : after).slice("+++ b/".length);
}

/** A step of a draft, in the parts of its line. */
export interface Step {
  number: number;
  label: string;
  title: string;
  /** ` (exit code 1)` where a command failed. */
  ending: string;
  /** The call that made it; null where that is not told of every step. */
  toolId: string | null;
}

const STEP = /^(step (\d+) +)(.*?)( \(exit code -?\d+\))?$/;
const CALLS = /^calls +(.*)$/;

/** The steps that lines of a plan list, by their line. */
export function stepsIn(lines: readonly string[]): Map<string, Step> {
  const listed = lines.filter((line) => STEP.test(line));
  const calls = lines.flatMap((line) => CALLS.exec(line)?.[1]?.split(" ") ?? []);
  return new Map(
    listed.map((line, at): [string, Step] => {
      const [, label = "", number, title = "", ending = ""] = STEP.exec(line) ?? [];
      return [line, { number: Number(number), label, title, ending, toolId: calls.length === listed.length ? calls[at]! : null }];
    }),
  );
}

/** The steps that are listed at the beginning of the evidence of a draft. */
export function stepsOf(evidence: string): Step[] {
  const [listed] = partsOf(evidence);
  return listed && listed.path === null ? [...stepsIn(linesOf(listed.text)).values()] : [];
}

/** The file that a line of the list of changes is about, among those with a diff. */
export function fileOf(line: string, paths: readonly string[]): string | null {
  const told = /^\[\w+\] (.+)$/.exec(line)?.[1];
  const fitting = paths.filter((path) => told === path || told?.startsWith(`${path}: `));
  return fitting.sort((one, other) => other.length - one.length)[0] ?? null;
}
