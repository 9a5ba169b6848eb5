import { useVirtualizer } from "@tanstack/react-virtual";
import { Columns2, Rows2 } from "lucide-react";
import { useMemo, useRef, type ReactNode } from "react";

import { countOf, pairsOf, rowsOf, type Extent, type Pair, type Row } from "../words/diff";
import { segmentsOf, type Segment } from "../words/segments";
import { languageOf, type Kind } from "../words/syntax";
import { visible } from "../words/visible";
import { setLayout, useLayout } from "./layout";

const LINE_HEIGHT = 21;
const FEW = 400;
const COLOURS: Partial<Record<Row["kind"], string>> = { add: "bg-add", del: "bg-del", hunk: "bg-raised text-soft", note: "bg-medium/10 text-medium" };
const INKS: Record<Kind, string> = { comment: "text-code-comment", string: "text-code-string", number: "text-code-number", word: "text-code-word" };

interface Props {
  path: string;
  text: string;
  /** The line that names the file among others. */
  head?: string | null;
  id?: string;
  /** Whether the way to draw diffs can be chosen here. */
  withLayout?: boolean;
  /** So many lines are drawn at once; more only where they are looked at. */
  few?: number;
}

/** A diff with its syntax and the words that changed marked. */
export function Diff({ path, text, head = null, id, withLayout = true, few = FEW }: Props) {
  const all = useMemo(() => rowsOf(text), [text]);
  const [heads, rows] = useMemo(() => [all.filter(isHead), all.filter((row) => !isHead(row))], [all]);
  const segments = useMemo(() => {
    const drawn = segmentsOf(rows, languageOf(path));
    return new Map(rows.map((row, index) => [row, drawn[index]!]));
  }, [rows, path]);
  const { layout } = useLayout();
  const lines = useMemo(() => (layout === "split" ? pairsOf(rows) : rows), [rows, layout]);
  const draw = (line: Pair | Row) => ("kind" in line ? <Line row={line} segments={segments} /> : <Sides pair={line} segments={segments} />);
  return (
    <figure id={id} tabIndex={id ? -1 : undefined} aria-label={`Changes of ${visible(path)}`} className="scroll-mt-4 overflow-hidden rounded-lg border border-line bg-panel">
      <figcaption className="flex gap-3 border-b border-line px-4 py-2 font-mono text-xs text-soft">
        <div className="min-w-0 flex-1 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {head !== null && (
            <div data-line className="min-h-4 font-medium text-ink">
              {visible(head)}
            </div>
          )}
          {heads.map((row, index) => (
            <div key={index} data-line className="min-h-4">
              {visible(row.text, "\t")}
            </div>
          ))}
        </div>
        <Count extent={countOf(rows)} />
        {withLayout && <LayoutButton />}
      </figcaption>
      {rows.length <= few ? <Short lines={lines} draw={draw} /> : <Long lines={lines} draw={draw} />}
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
    <div className="text-right">
      {added + removed > 0 && (
        <div>
          <Extents extent={extent} />
        </div>
      )}
      {cut && <div className="text-medium">{hidden > 0 ? `${hidden.toLocaleString()} not shown` : "not all shown"}</div>}
    </div>
  );
}

function LayoutButton() {
  const { layout, mayChoose } = useLayout();
  if (!mayChoose) return null;
  const [other, Icon] = layout === "split" ? (["unified", Rows2] as const) : (["split", Columns2] as const);
  return (
    <button type="button" aria-pressed={layout === "split"} aria-label="Split view" title={`Show ${other}`} onClick={() => setLayout(other)} className="-my-1 self-start rounded-md p-1.5 hover:bg-raised hover:text-ink">
      <Icon size={14} aria-hidden />
    </button>
  );
}

interface Drawn {
  lines: (Pair | Row)[];
  draw: (line: Pair | Row) => ReactNode;
}

function Short({ lines, draw }: Drawn) {
  return (
    <div className="overflow-x-auto py-1 font-mono text-[12.5px] leading-[21px]">
      {lines.map((line, index) => (
        <div key={index}>{draw(line)}</div>
      ))}
    </div>
  );
}

function Long({ lines, draw }: Drawn) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label={`${lines.length.toLocaleString()} lines`} className="max-h-[60dvh] overflow-auto font-mono text-[12.5px] leading-[21px]">
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((item) => (
          <div key={item.key} ref={rows.measureElement} data-index={item.index} className="absolute inset-x-0" style={{ transform: `translateY(${item.start}px)` }}>
            {draw(lines[item.index]!)}
          </div>
        ))}
      </div>
    </div>
  );
}

type Segments = Map<Row, Segment[]>;

function Sides({ pair: { before, after }, segments }: { pair: Pair; segments: Segments }) {
  return (
    <div className="grid grid-cols-2 divide-x divide-line">
      {before ? <Line row={before} segments={segments} side="before" /> : <div className="bg-raised/60" />}
      {after ? <Line row={after} segments={segments} side="after" /> : <div className="bg-raised/60" />}
    </div>
  );
}

function Line({ row, segments, side }: { row: Row; segments: Segments; side?: "before" | "after" }) {
  const numbers = side ? [row[side]] : [row.before, row.after];
  return (
    <div data-line data-side={side} className={`flex min-h-[21px] overflow-clip ${COLOURS[row.kind] ?? ""}`}>
      {row.sign ? (
        <>
          {numbers.map((number, index) => (
            <span key={index} className="min-w-11 shrink-0 pr-2 text-right text-soft select-none">
              {number}
            </span>
          ))}
          <span data-text className="w-5 shrink-0 text-center whitespace-pre select-none">
            {row.sign}
          </span>
        </>
      ) : (
        <span className="w-4 shrink-0" />
      )}
      <span data-text className="min-w-0 flex-1 pr-4 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {(segments.get(row) ?? []).map((segment, index) => (
          <Words key={index} kind={row.kind} segment={segment} />
        ))}
      </span>
    </div>
  );
}

function Words({ kind, segment }: { kind: Row["kind"]; segment: Segment }) {
  const text = visible(segment.text, "\t");
  const ink = segment.kind ? INKS[segment.kind] : "text-inherit";
  if (segment.changed) return <mark className={`rounded-xs ${ink} ${kind === "add" ? "bg-add-word" : "bg-del-word"}`}>{text}</mark>;
  return segment.kind ? <span className={ink}>{text}</span> : text;
}
