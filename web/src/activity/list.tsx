import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp, ListChecks } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { go } from "../router";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { useKeys } from "../ui/keys";
import { Notice } from "../ui/notice";
import { visible } from "../words/visible";
import { addressOf, isFiltered, type Filters } from "./filters";
import { Heads, Row } from "./row";
import { PAGE, useRows } from "./rows";

const ROW_HEIGHT = 44;
export const MOST = 100_000;

interface Props {
  filters: Filters;
  shown: string | null;
  onCount: (count: number | undefined) => void;
}

/** One row per call. Only visible rows are rendered, and only their pages are fetched. */
export function CallList({ filters, shown, onCount }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [[first, last], setPages] = useState<[number, number]>([0, 0]);
  const rows = useRows(filters, first, last);
  const count = Math.min(rows.count ?? 0, MOST);
  const drawn = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    useFlushSync: false,
  });
  const items = drawn.getVirtualItems();
  const [from, to] = [Math.floor((items[0]?.index ?? 0) / PAGE), Math.floor((items.at(-1)?.index ?? 0) / PAGE)];
  useEffect(() => setPages([from, to]), [from, to]);
  useEffect(() => onCount(rows.count), [rows.count]);
  const words = addressOf(filters);
  useEffect(() => void scroller.current?.scrollTo({ top: 0 }), [words]);

  const step = (by: number) => {
    const at = items.find((item) => rows.at(item.index)?.tool_id === shown)?.index;
    const next = rows.at(at === undefined ? (items[0]?.index ?? 0) : at + by);
    if (next) {
      go(addressOf(filters, next.tool_id), { replace: true });
      if (at !== undefined) drawn.scrollToIndex(at + by, { align: "auto" });
    }
  };
  useKeys({ j: () => step(1), k: () => step(-1) });

  return (
    <div className="@container relative flex min-h-0 flex-1 flex-col">
      {rows.error && (
        <div className="p-3">
          <Notice bad>{visible(rows.error.message)}</Notice>
        </div>
      )}
      <div role="table" aria-label="Calls" aria-rowcount={count + 1} aria-busy={rows.count === undefined} className="flex min-h-0 flex-1 flex-col">
        <Heads />
        <div ref={scroller} role="rowgroup" tabIndex={-1} className={`min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable] ${rows.isOld ? "opacity-60" : ""}`}>
          {rows.count === 0 ? (
            <Nothing filtered={isFiltered(filters)} />
          ) : (
            <div role="presentation" className="relative" style={{ height: drawn.getTotalSize() }}>
              {items.map((item) => {
                const call = rows.at(item.index);
                return (
                  <div key={item.key} role="presentation" className="absolute inset-x-0 contain-strict" style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
                    <Row call={call} number={item.index + 2} isShown={call !== undefined && call.tool_id === shown} address={call ? addressOf(filters, call.tool_id) : ""} />
                  </div>
                );
              })}
            </div>
          )}
        </div>
      </div>
      {rows.hasNews && (
        <Button
          className="absolute top-12 left-1/2 -translate-x-1/2 shadow-lg"
          icon={<ArrowUp size={14} aria-hidden />}
          onClick={() => {
            scroller.current?.scrollTo({ top: 0 });
            rows.refresh();
          }}
        >
          Show newer calls
        </Button>
      )}
    </div>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return (
    <Empty icon={<ListChecks size={20} />} title={filtered ? "No matching calls" : "No calls yet"}>
      {filtered ? "Remove a filter, or search for something else." : "Every call of an agent is recorded here: the request, the decision and the result."}
    </Empty>
  );
}
