import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";

import { countOf, rowsOf, type Row } from "../words/diff";
import { visible } from "../words/visible";

const LINE_HEIGHT = 21;
const FEW = 400;
const COLOURS: Partial<Record<Row["kind"], string>> = { add: "bg-add", del: "bg-del", hunk: "bg-raised text-soft", note: "text-soft" };
const SIGNS: Partial<Record<Row["kind"], string>> = { add: "+", del: "-" };

/** A diff with the words that changed marked. A long one is drawn only where it is looked at. */
export function Diff({ text }: { text: string }) {
  const all = useMemo(() => rowsOf(text), [text]);
  const rows = useMemo(() => all.filter((row) => row.kind !== "file"), [all]);
  const { added, removed, cut } = countOf(rows);
  const name = all.find((row) => row.kind === "file" && row.text.startsWith("+++ "))?.text.slice(4).replace(/^b\//, "") ?? "";
  return (
    <figure className="overflow-hidden rounded-lg border border-line bg-panel">
      <figcaption className="flex gap-3 border-b border-line px-4 py-2 text-xs text-soft">
        <span className="truncate font-mono">{visible(name)}</span>
        <span className="ml-auto font-mono whitespace-nowrap">
          <span className="text-low">+{added.toLocaleString()}</span>{" "}
          <span className="text-critical">−{removed.toLocaleString()}</span>
          {cut ? " and more lines" : <span className="sr-only"> lines</span>}
        </span>
      </figcaption>
      {rows.length <= FEW ? <Short rows={rows} /> : <Long rows={rows} />}
    </figure>
  );
}

function Short({ rows }: { rows: Row[] }) {
  return (
    <div className="overflow-x-auto py-1 font-mono text-[12.5px] leading-[21px]">
      {rows.map((row, index) => (
        <Line key={index} row={row} />
      ))}
    </div>
  );
}

function Long({ rows }: { rows: Row[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label={`${rows.length.toLocaleString()} lines`} className="h-[60dvh] overflow-auto font-mono text-[12.5px] leading-[21px]">
      <div className="relative" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map((item) => (
          <div key={item.key} ref={lines.measureElement} data-index={item.index} className="absolute inset-x-0" style={{ transform: `translateY(${item.start}px)` }}>
            <Line row={rows[item.index]!} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Line({ row }: { row: Row }) {
  return (
    <div className={`flex overflow-clip ${COLOURS[row.kind] ?? ""}`}>
      <span className="w-11 shrink-0 pr-2 text-right text-soft select-none">{row.before}</span>
      <span className="w-11 shrink-0 pr-2 text-right text-soft select-none">{row.after}</span>
      <span className="w-5 shrink-0 text-center select-none">{SIGNS[row.kind]}</span>
      <span className="min-w-0 flex-1 pr-4 whitespace-pre-wrap [overflow-wrap:anywhere]">
        <Words row={row} />
      </span>
    </div>
  );
}

function Words({ row }: { row: Row }) {
  if (!row.pieces) return visible(row.text, "\t");
  const mark = row.kind === "add" ? "bg-add-word" : "bg-del-word";
  return row.pieces.map((piece, index) =>
    piece.changed ? (
      <mark key={index} className={`rounded-xs text-inherit ${mark}`}>
        {visible(piece.text, "\t")}
      </mark>
    ) : (
      visible(piece.text, "\t")
    ),
  );
}
