import { ChartColumn, Table2 } from "lucide-react";
import { useId, useState, type ReactNode } from "react";

interface Props {
  title: string;
  about: ReactNode;
  /** The same data as a table. */
  table?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** One part of the page, as a plot or a table. */
export function Panel({ title, about, table, className = "", children }: Props) {
  const heading = useId();
  const [asTable, setAsTable] = useState(false);
  const Icon = asTable ? ChartColumn : Table2;
  return (
    <section aria-labelledby={heading} className={`flex min-w-0 flex-col rounded-xl border border-line bg-panel p-4 md:p-5 ${className}`}>
      <div className="flex items-start gap-3">
        <div className="min-w-0">
          <h2 id={heading} className="font-semibold tracking-tight">
            {title}
          </h2>
          <p className="mt-0.5 text-soft">{about}</p>
        </div>
        {table !== undefined && (
          <button
            type="button"
            aria-pressed={asTable}
            aria-label={`${title} as a table`}
            onClick={() => setAsTable(!asTable)}
            className="ml-auto inline-flex shrink-0 items-center gap-1.5 rounded-md border border-line px-2 py-1 text-xs text-soft hover:bg-raised hover:text-ink"
          >
            <Icon size={13} aria-hidden />
            {asTable ? "Plot" : "Table"}
          </button>
        )}
      </div>
      <div className="mt-4 min-w-0 flex-1">{asTable ? table : children}</div>
    </section>
  );
}
