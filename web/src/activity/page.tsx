import { useState } from "react";

import { usePlace } from "../router";
import { Details } from "./details";
import { filtersOf } from "./filters";
import { CallList, MOST } from "./list";
import { Export, Toolbar } from "./toolbar";

/** All calls, newest first. The details of one open beside the list, or instead of it on a narrow screen. */
export default function ActivityPage() {
  const { id, query } = usePlace();
  const [count, setCount] = useState<number | undefined>();
  const filters = filtersOf(query);
  return (
    <div className={`grid h-full min-h-0 ${id ? "lg:grid-cols-[minmax(0,1fr)_minmax(26rem,38%)]" : ""}`}>
      <main className={`flex min-h-0 min-w-0 flex-col ${id ? "max-lg:hidden" : ""}`}>
        <header className="flex items-center gap-2 px-4 py-2">
          <h1 className="font-medium">Activity</h1>
          <p role="status" className="text-soft tabular-nums">
            {count === undefined ? "" : words(count)}
          </p>
          <div className="ml-auto">
            <Export filters={filters} />
          </div>
        </header>
        <Toolbar filters={filters} shown={id} />
        <CallList filters={filters} shown={id} onCount={setCount} />
      </main>
      {id && <Details key={id} callId={id} filters={filters} />}
    </div>
  );
}

function words(count: number): string {
  if (count >= MOST) return `the newest ${MOST.toLocaleString()} calls`;
  return count === 1 ? "1 call" : `${count.toLocaleString()} calls`;
}
