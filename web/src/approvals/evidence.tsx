import { useId, useMemo } from "react";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { Parameters } from "../ui/parameters";
import { extentOfDiff, linesOf } from "../words/diff";
import { partsOf } from "../words/evidence";
import { visible } from "../words/visible";
import { Diff } from "./diff";
import { PlanLines, type Drawn } from "./plan-lines";

// Beyond this all diffs together take a moment to draw.
const MANY_LINES = 2_000;
const FEW_OF_MANY = 40;

/** What would change or run and, if a person has changed the call, what they changed. */
export function Evidence({ card, whole = false }: { card: ApprovalView; whole?: boolean }) {
  const { name } = useSession();
  return (
    <>
      <Effect card={card} whole={whole} />
      {card.revision && (
        <section className="mt-6" aria-label="What a person changed">
          <h3 className="mb-2 font-medium [overflow-wrap:anywhere]">{card.revised_by === name ? "You" : visible(card.revised_by ?? "")} changed what the agent asked for</h3>
          <EvidenceText text={card.revision} />
        </section>
      )}
    </>
  );
}

/** Diffs, a plan of commands, or the raw parameters. */
function Effect({ card, whole }: { card: ApprovalView; whole: boolean }) {
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
