import type { AnalyticsResponse, TokenDay } from "../api/types";
import { compact, count, percent } from "../words/number";
import { Panel } from "./panel";
import { NumberTable } from "./table";

/** Tokens used per day, compared with the budget. */
export function Tokens({ numbers: { tokens } }: { numbers: AnalyticsResponse }) {
  const { days, limit_tokens: limit } = tokens;
  const used = days.reduce((sum, one) => sum + one.used_tokens, 0);
  const most = Math.max(...days.map((one) => one.used_tokens), limit ?? 0, 1);
  const about = limit === null ? "No budget is set. Days are in UTC." : `The budget is ${compact(limit)} a day. Days are in UTC.`;
  const label = `${count(used)} tokens in ${days.length} days; the most on a day were ${count(Math.max(...days.map((one) => one.used_tokens)))}${limit === null ? "" : ` of ${count(limit)}`}.`;
  return (
    <Panel title="Tokens by day" about={`${compact(used)} used by your agents in all projects. ${about}`} table={<TokenTable days={days} limit={limit} />}>
      <div role="img" aria-label={label} className="relative h-44">
        {limit !== null && (
          <div className="absolute inset-x-0 border-t border-dashed border-critical" style={{ bottom: `${(100 * limit) / most}%` }}>
            <span className="absolute top-0.5 right-0 bg-panel px-1 text-[11px] text-critical">budget {compact(limit)}</span>
          </div>
        )}
        <div className="flex h-full items-end gap-px sm:gap-1">
          {days.map((one) => (
            <Day key={one.day} one={one} most={most} limit={limit} />
          ))}
        </div>
      </div>
      <div aria-hidden className="mt-1 flex justify-between text-[11px] text-soft">
        <span>{dayName(days[0]?.day)}</span>
        <span>{dayName(days.at(-1)?.day)}</span>
      </div>
    </Panel>
  );
}

/** Output tokens are stacked on input tokens. */
function Day({ one, most, limit }: { one: TokenDay; most: number; limit: number | null }) {
  const over = limit !== null && one.used_tokens >= limit;
  const height = (tokens: number) => ({ height: `${(100 * tokens) / most}%` });
  const title = `${dayName(one.day)}: ${count(one.used_tokens)} tokens${limit === null ? "" : `, ${percent(one.used_tokens, limit)} of the budget`}`;
  return (
    <div title={title} className="flex h-full flex-1 flex-col justify-end hover:bg-raised">
      <div className={over ? "bg-critical" : "bg-accent"} style={height(one.output_tokens)} />
      <div className={over ? "bg-critical/60" : "bg-accent/60"} style={height(one.input_tokens)} />
    </div>
  );
}

function TokenTable({ days, limit }: { days: TokenDay[]; limit: number | null }) {
  return (
    <NumberTable
      caption="Tokens by day, the latest first"
      columns={["Day", "Used", "Input", "Cached input", "Output", "Of the budget"]}
      rows={days.toReversed().map((one) => ({
        key: one.day,
        cells: [
          dayName(one.day),
          ...[one.used_tokens, one.input_tokens, one.cached_tokens, one.output_tokens].map(count),
          limit === null ? "–" : percent(Math.min(one.used_tokens, limit), limit),
        ],
      }))}
    />
  );
}

function dayName(day: string | undefined): string {
  if (!day) return "";
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
}
