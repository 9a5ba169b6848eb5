import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { colour, useShownTheme } from "./inks";

interface Props {
  label: string;
  data: uPlot.AlignedData;
  /** Built anew for each theme: a canvas knows nothing of variables. */
  options: (context: CanvasRenderingContext2D) => Omit<uPlot.Options, "width" | "height">;
  /** Which bucket is pointed at, by mouse, touch or arrow keys. */
  at: number | null;
  onPoint: (at: number | null) => void;
  /** What a screen reader says of that bucket. */
  told: string;
}

const HEIGHT = 220;

/** A plot in time. With the focus on it, the arrow keys go from bucket to bucket. */
export function Plot({ label, data, options, at, onPoint, told }: Props) {
  const theme = useShownTheme();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [isReady, setReady] = useState(false);
  const pointed = useRef(onPoint);
  pointed.current = onPoint;
  const last = data[0].length - 1;

  useEffect(() => {
    const holder = box.current;
    const context = document.createElement("canvas").getContext("2d");
    if (!holder || !context) return;
    const drawn = new uPlot(
      {
        ...options(context),
        width: holder.clientWidth,
        height: HEIGHT,
        padding: [10, 10, 0, 0],
        legend: { show: false },
        hooks: { setCursor: [(self) => pointed.current(self.cursor.idx ?? null)] },
      },
      data,
      holder,
    );
    plot.current = drawn;
    setReady(true);
    const observer = new ResizeObserver(() => drawn.setSize({ width: holder.clientWidth, height: HEIGHT }));
    observer.observe(holder);
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
    // `options` is a function of the same values as `data`.
  }, [theme, data]);

  const moved = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") onPoint(null);
    const drawn = plot.current;
    if (step === undefined || !drawn) return;
    event.preventDefault();
    const next = Math.min(Math.max(at === null ? last : at + step, 0), last);
    const left = drawn.valToPos(drawn.data[0][next]!, "x");
    drawn.setCursor({ left: left + 1, top: 0 }, false);
    onPoint(next);
  };

  return (
    <div
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={told}
      onKeyDown={moved}
      onBlur={() => onPoint(null)}
      data-ready={isReady}
      className="min-w-0 overflow-hidden rounded"
      style={{ height: HEIGHT }}
    />
  );
}

/** Axes as quiet as the rest of the page. */
export function quietAxis(extra: Partial<uPlot.Axis>): uPlot.Axis {
  return {
    stroke: colour("--soft"),
    font: `11px ${colour("--font-sans") || "Inter Variable"}, sans-serif`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    ...extra,
  };
}

/** Moments along the bottom: the hour and, where a day begins, its date. */
export function timeAxis(bucket: "hour" | "day"): uPlot.Axis {
  const date: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  const name = (split: number) => {
    const at = new Date(split * 1000);
    if (bucket === "day") return at.toLocaleDateString(undefined, { ...date, timeZone: "UTC" });
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
    return isMidnight ? at.toLocaleDateString(undefined, date) : at.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  };
  return quietAxis({ size: 30, space: 64, grid: { show: false }, values: (_, splits) => splits.map(name) });
}

/** Time along the bottom; days are those of the server, in UTC. */
export function timeScale(bucket: "hour" | "day", starts: number, ends: number): Partial<uPlot.Options> {
  return {
    scales: { x: { range: [starts, ends] } },
    ...(bucket === "day" && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") }),
  };
}

export function seconds(iso: string): number {
  return new Date(iso).getTime() / 1000;
}
