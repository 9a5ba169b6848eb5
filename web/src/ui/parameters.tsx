import { useState } from "react";

import { visible } from "../words/visible";
import { Button } from "./button";

// More than the server sends of one text: only lists and objects can be as long.
const MOST_CHARS = 40_000;
// As the server says what it leaves out.
const LEFT_OUT = /… \[([\d,]+) more characters\]$/;

/** The parameters of a call as they are, with unseen characters seen; `whole` in no window of their own. */
export function Parameters({ params, whole = false }: { params: Record<string, unknown>; whole?: boolean }) {
  const all = Object.entries(params);
  if (all.length === 0) return <p className="text-soft">None.</p>;
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-2 rounded-lg border border-line bg-panel p-4">
      {all.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="font-mono text-[13px] text-soft">{visible(name)}</dt>
          <dd className={`font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere] ${whole ? "" : "max-h-96 overflow-auto"}`}>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Of what is very long only the beginning, until all of it is asked for. */
function Value({ value }: { value: unknown }) {
  const [all, setAll] = useState(false);
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const leftOut = LEFT_OUT.exec(text)?.[1];
  const missing = all ? 0 : Math.max(0, text.length - MOST_CHARS);
  return (
    <>
      {visible(missing ? text.slice(0, MOST_CHARS) : text, "\n\t")}
      {missing > 0 && (
        <span className="mt-2 flex flex-wrap items-center gap-2 font-sans">
          … and {missing.toLocaleString()} more characters
          <Button onClick={() => setAll(true)}>Show them</Button>
        </span>
      )}
      {leftOut && <strong className="mt-2 block font-sans font-medium text-critical">{leftOut} characters are not shown here.</strong>}
    </>
  );
}
