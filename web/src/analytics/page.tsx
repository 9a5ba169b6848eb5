import { ChartColumn, RefreshCw, WifiOff } from "lucide-react";

import { go } from "../router";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { moment } from "../words/time";
import { Asked } from "./asked";
import { Decisions } from "./decisions";
import { Errors } from "./errors";
import { Glance } from "./glance";
import { isEmpty, useNumbers } from "./numbers";
import { Passes } from "./passes";
import { RANGES, useRange, type Range } from "./range";
import { Tokens } from "./tokens";
import { Waits } from "./waits";

/** Decisions, waiting times, failures and token use. */
export default function AnalyticsPage() {
  const range = useRange();
  const numbers = useNumbers(range);
  const { data } = numbers;
  return (
    <main className="flex h-full min-h-0 flex-col">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 md:px-6">
        <h1 className="font-medium">Analytics</h1>
        <div className="ml-auto flex flex-wrap items-center gap-3">
          <span className="text-xs text-soft tabular-nums max-sm:sr-only" role="status">
            {numbers.isError ? numbers.error.message : numbers.dataUpdatedAt ? `as of ${moment(new Date(numbers.dataUpdatedAt).toISOString())}` : ""}
          </span>
          <RangeSwitch chosen={range} />
          <Button className="px-2" aria-label="Refresh" title="Refresh" onClick={() => void numbers.refetch()}>
            <RefreshCw size={15} aria-hidden className={numbers.isFetching ? "animate-spin" : ""} />
          </Button>
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-auto" aria-busy={numbers.isPending}>
        {data && isEmpty(data) ? (
          <Empty icon={<ChartColumn size={20} />} title={`No calls in the last ${range.words}`}>
            Calls are counted here: how they were decided and how long that took.
          </Empty>
        ) : data ? (
          <div className={`mx-auto grid max-w-7xl gap-4 p-4 md:p-6 items-start xl:grid-cols-2 ${numbers.isPlaceholderData ? "opacity-60" : ""}`}>
            <div className="min-w-0 xl:col-span-2">
              <Glance numbers={data} />
            </div>
            <Decisions numbers={data} />
            <Waits numbers={data} />
            <Tokens numbers={data} />
            <Asked numbers={data} />
            <Passes numbers={data} />
            <Errors numbers={data} />
          </div>
        ) : numbers.isError ? (
          <Empty icon={<WifiOff size={20} />} title="The numbers could not be loaded">
            {numbers.error.message}
          </Empty>
        ) : (
          <Waiting />
        )}
      </div>
    </main>
  );
}

function RangeSwitch({ chosen }: { chosen: Range }) {
  return (
    <div role="group" aria-label="Time shown" className="flex rounded-md border border-line p-0.5">
      {RANGES.map(({ name, words }) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === chosen.name}
          onClick={() => go(`/analytics?range=${name}`)}
          className={`rounded px-2.5 py-1 text-xs whitespace-nowrap ${name === chosen.name ? "bg-raised font-medium" : "text-soft hover:text-ink"}`}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

/** Placeholders of the final size, so the page does not jump. */
function Waiting() {
  return (
    <div className="mx-auto grid max-w-7xl gap-4 p-4 md:p-6 xl:grid-cols-2" role="status">
      <span className="sr-only">Loading…</span>
      {["h-20 xl:col-span-2", "h-96 xl:col-span-2", "h-96", "h-96"].map((size, at) => (
        <div key={at} className={`animate-pulse rounded-xl border border-line bg-panel ${size}`} />
      ))}
    </div>
  );
}
