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

/** What was decided, by whom and how fast; and what might be decided once for all. */
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
          <Empty icon={<ChartColumn size={20} />} title={`Nothing was decided in the last ${range.words}`}>
            As soon as an agent asks for something, it is counted here: what passed, what you decided, how long that took.
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
          <Empty icon={<WifiOff size={20} />} title="The numbers cannot be read">
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

/** As large as what will be there, so that nothing jumps. */
function Waiting() {
  return (
    <div className="mx-auto grid max-w-7xl gap-4 p-4 md:p-6 xl:grid-cols-2" role="status">
      <span className="sr-only">Counting…</span>
      {["h-20 xl:col-span-2", "h-96 xl:col-span-2", "h-96", "h-96"].map((size, at) => (
        <div key={at} className={`animate-pulse rounded-xl border border-line bg-panel ${size}`} />
      ))}
    </div>
  );
}
