import { useSyncExternalStore } from "react";

export type Pattern = "plain" | "faint" | "stripes" | "dots";

/** What something is drawn with: one of the page's colours and, so that colour is not alone, a pattern. */
export interface Ink {
  token: `--${string}`;
  pattern: Pattern;
}

/** The value of one of the page's colours, as it is now. */
export function colour(token: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(token).trim();
}

/** Which theme is shown; a canvas must be drawn anew when it changes. */
export function useShownTheme(): string {
  return useSyncExternalStore(watch, () => document.documentElement.dataset["theme"] ?? "");
}

function watch(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

const TILE = 6;
// For what there is most of, and matters least.
const FAINT = 0.45;

/** An ink for a canvas; opaque, since what is stacked lies over each other. */
export function fillOf({ token, pattern }: Ink, context: CanvasRenderingContext2D): string | CanvasPattern {
  if (pattern === "plain") return colour(token);
  const size = TILE * devicePixelRatio;
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  if (!pen) return colour(token);
  pen.fillStyle = colour("--panel");
  pen.fillRect(0, 0, size, size);
  pen.fillStyle = pen.strokeStyle = colour(token);
  if (pattern === "faint") {
    pen.globalAlpha = FAINT;
    pen.fillRect(0, 0, size, size);
  } else if (pattern === "dots") {
    pen.beginPath();
    pen.arc(size / 2, size / 2, size / 3, 0, 2 * Math.PI);
    pen.fill();
  } else {
    pen.lineWidth = size / 2.4;
    for (const shift of [-size, 0, size]) {
      pen.beginPath();
      pen.moveTo(shift - 1, size + 1);
      pen.lineTo(shift + size + 1, -1);
      pen.stroke();
    }
  }
  return context.createPattern(tile, "repeat") ?? colour(token);
}

/** The same ink beside its name. */
export function Swatch({ ink: { token, pattern } }: { ink: Ink }) {
  const background = {
    plain: `var(${token})`,
    faint: `color-mix(in srgb, var(${token}) ${100 * FAINT}%, var(--panel))`,
    stripes: `repeating-linear-gradient(135deg, var(${token}) 0 2px, var(--panel) 2px 4px)`,
    dots: `radial-gradient(circle, var(${token}) 1.2px, var(--panel) 1.6px) 0 0 / 3.4px 3.4px`,
  }[pattern];
  return <span aria-hidden className="inline-block size-2.5 shrink-0 rounded-[3px]" style={{ background, boxShadow: `inset 0 0 0 1px var(${token})` }} />;
}

/** A line beside its name. */
export function LineSwatch({ token, dash }: { token: string; dash: readonly number[] }) {
  return (
    <svg aria-hidden width="22" height="8" className="shrink-0">
      <line x1="1" x2="21" y1="4" y2="4" stroke={`var(${token})`} strokeWidth="2" strokeDasharray={dash.join(" ")} />
    </svg>
  );
}
