import { useState, type ReactNode } from "react";

import { count, percent } from "../words/number";

export interface Bar {
  key: string;
  name: ReactNode;
  about?: ReactNode;
  calls: number;
}

// The rest is shown on request.
const FEW = 8;

interface Props {
  caption: string;
  head: string;
  bars: Bar[];
  /** The total for the shares. */
  all: number;
  /** A colour of the page. */
  token: `--${string}`;
}

/** A bar chart that is also a table, for screen readers. */
export function Bars({ caption, head, bars, all, token }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? bars : bars.slice(0, FEW);
  const most = Math.max(...bars.map((one) => one.calls), 1);
  return (
    <>
    <table className="w-full table-fixed">
      <caption className="sr-only">{caption}</caption>
      <colgroup>
        <col />
        <col className="w-16" />
        <col className="w-14" />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">Calls</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => (
          <tr key={one.key} className="align-top">
            <th scope="row" className="py-1.5 pr-3 text-left font-normal">
              <span className="flex flex-wrap items-baseline gap-x-2">
                <span className="[overflow-wrap:anywhere]">{one.name}</span>
                {one.about && <span className="text-xs text-soft [overflow-wrap:anywhere]">{one.about}</span>}
              </span>
              <span aria-hidden className="mt-1 block h-1.5 rounded-full bg-raised">
                <span className="block h-full min-w-1 rounded-full" style={{ width: `${(100 * one.calls) / most}%`, background: `var(${token})` }} />
              </span>
            </th>
            <td className="py-1.5 text-right tabular-nums">{count(one.calls)}</td>
            <td className="py-1.5 text-right text-soft tabular-nums">{percent(one.calls, all)}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {bars.length > FEW && (
      <button type="button" onClick={() => setShowsAll(!showsAll)} aria-expanded={showsAll} className="mt-2 rounded px-1 text-xs text-soft underline underline-offset-2 hover:text-ink">
        {showsAll ? "Show less" : `Show all ${bars.length}`}
      </button>
    )}
    </>
  );
}
