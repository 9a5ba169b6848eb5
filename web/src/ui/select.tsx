import { visible } from "../words/visible";

interface Props {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
  /** Whether the label is only for those who do not see the page. */
  quiet?: boolean;
}

export function Select({ label, value, options, onChange, quiet = false }: Props) {
  return (
    <label className={`inline-flex min-w-0 items-center gap-2 ${quiet ? "max-sm:w-full" : ""}`}>
      <span className={quiet ? "sr-only" : "whitespace-nowrap text-soft"}>{label}</span>
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={`h-8 max-w-full min-w-0 rounded-md border bg-panel px-2 ${quiet ? "max-sm:w-full" : ""} ${quiet && value ? "border-accent" : "border-line"}`}
      >
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {visible(words)}
          </option>
        ))}
      </select>
    </label>
  );
}
