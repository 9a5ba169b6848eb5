import { visible } from "../words/visible";

const MOST_CHARS = 20_000;

/** The parameters of a call as they are, with unseen characters seen. */
export function Parameters({ params }: { params: Record<string, unknown> }) {
  const all = Object.entries(params);
  if (all.length === 0) return <p className="text-soft">None.</p>;
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-2 rounded-lg border border-line bg-panel p-4">
      {all.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="font-mono text-[13px] text-soft">{visible(name)}</dt>
          <dd className="max-h-96 overflow-auto font-mono text-[13px] whitespace-pre-wrap [overflow-wrap:anywhere]">{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const words = visible(text.slice(0, MOST_CHARS), "\n\t");
  return text.length > MOST_CHARS ? `${words}\n… and ${(text.length - MOST_CHARS).toLocaleString()} more characters` : words;
}
