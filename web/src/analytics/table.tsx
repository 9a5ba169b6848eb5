import type { ReactNode } from "react";

interface Props {
  caption: string;
  /** The first column names the row; the others are numbers. */
  columns: string[];
  rows: { key: string; cells: ReactNode[] }[];
}

/** A table with its own scroll bar, so the page keeps its size. */
export function NumberTable({ caption, columns, rows }: Props) {
  return (
    <div className="max-h-72 overflow-auto rounded-md border border-line" tabIndex={0} role="region" aria-label={caption}>
      <table className="w-full text-xs tabular-nums">
        <caption className="sr-only">{caption}</caption>
        <thead className="sticky top-0 bg-raised">
          <tr>
            {columns.map((column, at) => (
              <th key={column} scope="col" className={`px-3 py-1.5 font-medium whitespace-nowrap ${at ? "text-right" : "text-left"}`}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [name, ...numbers] }) => (
            <tr key={key} className="border-t border-line">
              <th scope="row" className="px-3 py-1 text-left font-normal whitespace-nowrap text-soft">
                {name}
              </th>
              {numbers.map((number, at) => (
                <td key={at} className="px-3 py-1 text-right whitespace-nowrap">
                  {number}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length} className="px-3 py-4 text-center text-soft">
                Nothing in this period
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
