import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";

import { countOf, rowsOf, type Extent, type Row } from "../words/diff";
import { visible } from "../words/visible";

const LINE_HEIGHT = 21;
const FEW = 400;
const COLOURS: Partial<Record<Row["kind"], string>> = { add: "bg-add", del: "bg-del", hunk: "bg-raised text-soft", note: "bg-medium/10 text-medium" };

/** A diff with the words that changed marked. A long one is drawn only where it is looked at. */
export function Diff({ text }: { text: string }) {
  const all = useMemo(() => rowsOf(text), [text]);
  const [heads, rows] = useMemo(() => [all.filter(isHead), all.filter((row) => !isHead(row))], [all]);
  return (
    <figure className="overflow-hidden rounded-lg border border-line bg-panel">
      <figcaption className="flex gap-3 border-b border-line px-4 py-2 font-mono text-xs text-soft">
        <div className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {heads.map((row, index) => (
            <div key={index} data-line className="min-h-4">
              {visible(row.text, "\t")}
            </div>
          ))}
        </div>
        <Count extent={countOf(rows)} />
      </figcaption>
      {rows.length <= FEW ? <Short rows={rows} /> : <Long rows={rows} />}
    </figure>
  );
}

/** The two lines that name the file. */
function isHead(row: Row): boolean {
  return row.kind === "file";
}

/** `+3 −1` */
export function Extents({ extent: { added, removed } }: { extent: Extent }) {
  return (
    <span className="whitespace-nowrap tabular-nums">
      <span className="text-low">+{added.toLocaleString()}</span> <span className="text-critical">−{removed.toLocaleString()}</span>
      <span className="sr-only"> lines</span>
    </span>
  );
}

function Count({ extent }: { extent: Extent }) {
  const { added, removed, hidden, cut } = extent;
  return (
    <div className="ml-auto text-right">
      {added + removed > 0 && (
        <div>
          <Extents extent={extent} />
        </div>
      )}
      {cut && <div className="text-medium">{hidden > 0 ? `${hidden.toLocaleString()} not shown` : "not all shown"}</div>}
    </div>
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
    <div data-line className={`flex min-h-[21px] overflow-clip ${COLOURS[row.kind] ?? ""}`}>
      {row.sign ? (
        <>
          <span className="min-w-11 shrink-0 pr-2 text-right text-soft select-none">{row.before}</span>
          <span className="min-w-11 shrink-0 pr-2 text-right text-soft select-none">{row.after}</span>
          <span data-text className="w-5 shrink-0 text-center whitespace-pre select-none">
            {row.sign}
          </span>
        </>
      ) : (
        <span className="w-4 shrink-0" />
      )}
      <span data-text className="min-w-0 flex-1 pr-4 whitespace-pre-wrap [overflow-wrap:anywhere]">
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
