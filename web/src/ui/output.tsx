import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";

import { linesOf, type Colour, type Look, type Piece } from "../words/ansi";
import { visible } from "../words/visible";

const LINE_HEIGHT = 20;
const FEW = 300;
const COLOURS: Record<Colour, string> = {
  red: "text-critical",
  green: "text-low",
  yellow: "text-medium",
  blue: "text-blue",
  magenta: "text-magenta",
  cyan: "text-accent",
  grey: "text-soft",
};

/** What a command wrote, in its colours. A long one is drawn only where it is looked at. */
export function Output({ text, label }: { text: string; label: string }) {
  const lines = useMemo(() => linesOf(text), [text]);
  if (text === "") return <p className="text-soft">Nothing was written.</p>;
  return lines.length <= FEW ? <Short lines={lines} label={label} /> : <Long lines={lines} label={label} />;
}

const FRAME = "overflow-auto rounded-lg border border-line bg-panel font-mono text-[12.5px] leading-5";

function Short({ lines, label }: { lines: Piece[][]; label: string }) {
  return (
    <div tabIndex={0} role="region" aria-label={label} className={`max-h-96 p-3 ${FRAME}`}>
      {lines.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </div>
  );
}

function Long({ lines, label }: { lines: Piece[][]; label: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div>
      <div ref={scroller} tabIndex={0} role="region" aria-label={`${label}, ${lines.length.toLocaleString()} lines`} className={`h-96 ${FRAME}`}>
        <div className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((item) => (
            <div key={item.key} ref={rows.measureElement} data-index={item.index} className="absolute inset-x-0 px-3" style={{ transform: `translateY(${item.start}px)` }}>
              <Line line={lines[item.index]!} />
            </div>
          ))}
        </div>
      </div>
      <p className="mt-1 text-xs text-soft">{lines.length.toLocaleString()} lines</p>
    </div>
  );
}

function Line({ line }: { line: Piece[] }) {
  return (
    <div className="min-h-5 overflow-clip whitespace-pre-wrap [overflow-wrap:anywhere]">
      {line.map((piece, index) => (
        <span key={index} className={looks(piece)}>
          {visible(piece.text, "\t")}
        </span>
      ))}
    </div>
  );
}

function looks(look: Look): string {
  const worn = [
    look.colour ? COLOURS[look.colour] : look.dim ? "text-soft" : "",
    look.bold ? "font-bold" : "",
    look.italic ? "italic" : "",
    look.underline ? "underline" : "",
  ];
  return worn.filter(Boolean).join(" ");
}
