import { useId, useMemo } from "react";

import type { ApprovalView } from "../api/types";
import { Parameters } from "../ui/parameters";
import { extentOfDiff, linesOf } from "../words/diff";
import { partsOf } from "../words/evidence";
import { Diff } from "./diff";
import { PlanLines, type Drawn } from "./plan-lines";

// Beyond this all diffs together take a moment to draw.
const MANY_LINES = 2_000;
const FEW_OF_MANY = 40;

/** What would change or run: diffs, a plan of commands, or the raw parameters. */
export function Evidence({ card, whole = false }: { card: ApprovalView; whole?: boolean }) {
  if (card.evidence) return <EvidenceText text={card.evidence} />;
  return <Parameters params={card.tool_params} whole={whole} />;
}

/** Every line in its order; the list of changes leads to the diffs below it. */
export function EvidenceText({ text }: { text: string }) {
  const id = useId();
  const parts = useMemo(() => partsOf(text), [text]);
  const many = linesOf(text).length > MANY_LINES;
  const first = parts.findIndex((one) => one.path !== null);
  const drawn = useMemo(
    () => new Map(parts.flatMap((one, at): [string, Drawn][] => (one.path === null ? [] : [[one.path, { path: one.path, id: `${id}${at}`, extent: extentOfDiff(one.text) }]]))),
    [parts, id],
  );
  return (
    <div className="space-y-3">
      {parts.map((one, at) =>
        one.path === null ? (
          <PlanLines key={at} lines={linesOf(one.text)} drawn={drawn} />
        ) : (
          <Diff key={at} id={`${id}${at}`} path={one.path} head={one.head} text={one.text} withLayout={at === first} {...(many && parts.length > 1 && { few: FEW_OF_MANY })} />
        ),
      )}
    </div>
  );
}
