import { useMemo, useState } from "react";
import uPlot from "uplot";

import type { AnalyticsResponse, OutcomesView } from "../api/types";
import { compact, count, percent } from "../words/number";
import { fillOf, Swatch } from "./inks";
import { bucketName } from "./numbers";
import { allOf, OUTCOMES } from "./outcomes";
import { Panel } from "./panel";
import { Plot, quietAxis, seconds, timeAxis, timeScale } from "./plot";
import { NumberTable } from "./table";

/** The outcomes of calls over time, as a stacked plot. */
export function Decisions({ numbers }: { numbers: AnalyticsResponse }) {
  const { decisions, bucket, totals } = numbers;
  const [at, setAt] = useState<number | null>(null);
  const stacked = useMemo(() => stack(decisions), [decisions]);
  const options = (context: CanvasRenderingContext2D): Omit<uPlot.Options, "width" | "height"> => ({
    ...timeScale(bucket, seconds(numbers.starts_at), seconds(numbers.ends_at)),
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    series: [
      {},
      ...OUTCOMES.toReversed().map((ink) => ({
        fill: () => fillOf(ink, context) as string,
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.85, 44], align: 1 }),
      })),
    ],
    // Each series starts where the one below ends.
    bands: OUTCOMES.slice(1).map((_, at) => ({ series: [at + 1, at + 2] })),
    axes: [
      timeAxis(bucket),
      quietAxis({ size: 44, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? compact(tick) : "")) }),
    ],
  });
  const shown = at === null ? undefined : decisions[at];
  const counts: OutcomesView = shown ?? totals;
  const told = shown ? `${bucketName(shown.at, bucket)}: ${inWords(shown)}` : `Total: ${inWords(totals)}`;
  return (
    <Panel title="Decisions over time" about="How calls were decided: automatically, by you, or by the rules." table={<DecisionTable numbers={numbers} />} className="xl:col-span-2">
      <Plot label="Decisions over time" data={stacked} options={options} at={at} onPoint={setAt} told={told} />
      <p className="mt-3 text-xs text-soft">{shown ? bucketName(shown.at, bucket) : "Total"}</p>
      <dl className="mt-1.5 flex flex-wrap gap-x-5 gap-y-1.5">
        {OUTCOMES.map((outcome) => (
          <div key={outcome.key} className="flex items-center gap-2">
            <dt className="flex items-center gap-2 text-soft">
              <Swatch ink={outcome} />
              {outcome.words}
            </dt>
            <dd className="min-w-8 font-medium tabular-nums">{count(counts[outcome.key])}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function DecisionTable({ numbers: { decisions, bucket, totals } }: { numbers: AnalyticsResponse }) {
  const rows = decisions.filter((one) => allOf(one) > 0).toReversed();
  return (
    <NumberTable
      caption={`Decisions by ${bucket}, the latest first`}
      columns={["When", ...OUTCOMES.map((one) => one.words)]}
      rows={[
        { key: "all", cells: ["Total", ...OUTCOMES.map(({ key }) => `${count(totals[key])} (${percent(totals[key], allOf(totals))})`)] },
        ...rows.map((one) => ({ key: one.at, cells: [bucketName(one.at, bucket), ...OUTCOMES.map(({ key }) => count(one[key]))] })),
      ]}
    />
  );
}

/** Running sums over the outcomes, the largest first. */
function stack(decisions: AnalyticsResponse["decisions"]): uPlot.AlignedData {
  const lines = OUTCOMES.map((_, upTo) => decisions.map((one) => OUTCOMES.slice(0, upTo + 1).reduce((sum, { key }) => sum + one[key], 0)));
  return [decisions.map((one) => seconds(one.at)), ...lines.toReversed()];
}

function inWords(counts: OutcomesView): string {
  return OUTCOMES.map(({ key, words }) => `${count(counts[key])} ${words.toLowerCase()}`).join(", ");
}
