import type { AnalyticsResponse } from "../api/types";
import { count, percent } from "../words/number";
import { roughly } from "../words/time";
import { visible } from "../words/visible";
import { allOf } from "./outcomes";

/** The five most important numbers. */
export function Glance({ numbers: { totals, waiting, waits, errors } }: { numbers: AnalyticsResponse }) {
  const all = allOf(totals);
  const failed = errors.reduce((sum, one) => sum + one.calls, 0);
  const facts: [string, string, string][] = [
    ["Calls decided", count(all), ""],
    ["Auto-approved", percent(totals.auto_approved, all), count(totals.auto_approved)],
    ["Put to you", count(totals.approved + totals.refused + totals.expired + waiting), `${waiting ? `${count(waiting)} waiting, ` : ""}${totals.expired ? count(totals.expired) : "none"} expired`],
    ["Median answer", waits.median_ms === null ? "–" : roughly(waits.median_ms), waits.p90_ms === null ? "" : `90% within ${roughly(waits.p90_ms)}`],
    ["Failed to run", count(failed), errors[0] ? `most with ${visible(errors[0].tool_name)}` : ""],
  ];
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-3 lg:grid-cols-5">
      {facts.map(([name, value, about]) => (
        <div key={name} className="bg-panel px-4 py-3 max-sm:last:col-span-2 sm:max-lg:last:col-span-2">
          <dt className="text-xs text-soft">{name}</dt>
          <dd className="mt-0.5 flex flex-wrap items-baseline gap-x-2">
            <span className="text-xl font-semibold tracking-tight whitespace-nowrap tabular-nums">{value}</span>
            <span className="truncate text-xs text-soft">{about}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
