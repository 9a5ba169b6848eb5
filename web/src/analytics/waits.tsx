import { useMemo, useState } from "react";
import type uPlot from "uplot";

import type { AnalyticsResponse, WaitsView } from "../api/types";
import { several } from "../words/number";
import { roughly } from "../words/time";
import { colour, LineSwatch } from "./inks";
import { bucketName } from "./numbers";
import { Panel } from "./panel";
import { Plot, quietAxis, seconds, timeAxis, timeScale } from "./plot";
import { NumberTable } from "./table";

interface Line {
  key: "median_ms" | "p90_ms" | "timeout_ms";
  words: string;
  token: string;
  dash: number[];
  hasPoints: boolean;
}

const LINES: Line[] = [
  { key: "median_ms", words: "Median", token: "--accent", dash: [], hasPoints: true },
  { key: "p90_ms", words: "90% within", token: "--medium", dash: [6, 3], hasPoints: true },
  { key: "timeout_ms", words: "Expires after (average)", token: "--critical", dash: [2, 3], hasPoints: false },
];
// Where a line across is worth it, in milliseconds.
const MARKS = [100, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000];

/** How long people took to answer, compared with the timeout. */
export function Waits({ numbers }: { numbers: AnalyticsResponse }) {
  const { wait_points: points, waits, bucket } = numbers;
  const [at, setAt] = useState<number | null>(null);
  const data = useMemo((): uPlot.AlignedData => [points.map((one) => seconds(one.at)), ...LINES.map(({ key }) => points.map((one) => one[key]))], [points]);
  const shown = at === null ? undefined : points[at];
  const measured: WaitsView = shown ?? waits;
  const name = shown ? bucketName(shown.at, bucket) : "Total";
  return (
    <Panel
      title="Time to decision"
      about={waits.answered ? `${several(waits.answered, "question")} answered${expiredWords(numbers)}.` : "How long questions waited for your answer."}
      table={<WaitTable numbers={numbers} />}
    >
      {waits.answered === 0 ? (
        <p className="grid h-[220px] place-items-center text-soft">No question was answered in this period.</p>
      ) : (
        <Plot label="Time to decision" data={data} options={() => options(numbers)} at={at} onPoint={setAt} told={`${name}: ${inWords(measured)}`} />
      )}
      <p className="mt-3 text-xs text-soft">{name}</p>
      <dl className="mt-1.5 flex flex-wrap gap-x-5 gap-y-1.5">
        {LINES.map((line) => (
          <div key={line.key} className="flex items-center gap-2">
            <dt className="flex items-center gap-2 text-soft">
              <LineSwatch {...line} />
              {line.words}
            </dt>
            <dd className="min-w-12 font-medium tabular-nums">{lasted(measured[line.key])}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function options({ bucket, starts_at, ends_at, wait_points }: AnalyticsResponse): Omit<uPlot.Options, "width" | "height"> {
  const time = timeScale(bucket, seconds(starts_at), seconds(ends_at));
  const values = wait_points.flatMap((one) => LINES.map(({ key }) => one[key])).filter((one) => one !== null && one > 0) as number[];
  // From a little below the shortest to a little above the longest.
  const range: uPlot.Range.MinMax = [Math.max(Math.min(...values) * 0.7, 10), Math.max(...values) * 1.4];
  return {
    ...time,
    scales: { ...time.scales, y: { distr: 3, range } },
    cursor: { drag: { x: false, y: false }, y: false },
    series: [
      {},
      ...LINES.map(({ token, dash, hasPoints }) => ({
        stroke: colour(token),
        width: 2,
        dash,
        // A gap means no answers; a line through it would suggest some.
        spanGaps: !hasPoints,
        points: { show: hasPoints, size: 5, fill: colour(token) },
      })),
    ],
    axes: [
      timeAxis(bucket),
      quietAxis({
        size: 58,
        splits: (_, __, low, high) => MARKS.filter((mark) => mark >= low && mark <= high),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map(markName),
      }),
    ],
  };
}

function markName(ms: number): string {
  if (ms >= 3_600_000) return `${ms / 3_600_000} h`;
  if (ms >= 60_000) return `${ms / 60_000} min`;
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`;
}

function WaitTable({ numbers: { wait_points, waits, bucket } }: { numbers: AnalyticsResponse }) {
  const cells = (one: WaitsView) => [one.answered, ...LINES.map(({ key }) => lasted(one[key]))];
  const answered = wait_points.filter((one) => one.answered > 0).toReversed();
  return (
    <NumberTable
      caption={`Time to decision by ${bucket}, the latest first`}
      columns={["When", "Answered", ...LINES.map((one) => one.words)]}
      rows={[
        { key: "all", cells: ["Total", ...cells(waits)] },
        ...answered.map((one) => ({ key: one.at, cells: [bucketName(one.at, bucket), ...cells(one)] })),
      ]}
    />
  );
}

function expiredWords({ totals }: AnalyticsResponse): string {
  return totals.expired ? `, ${totals.expired} expired` : ", none expired";
}

function lasted(ms: number | null): string {
  return ms === null ? "–" : roughly(ms);
}

function inWords(waits: WaitsView): string {
  if (!waits.answered) return "nothing answered";
  return `${several(waits.answered, "answer")}, ` + LINES.map(({ key, words }) => `${words.toLowerCase()} ${lasted(waits[key])}`).join(", ");
}
