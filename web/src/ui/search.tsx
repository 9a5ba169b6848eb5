import { Search as Glass } from "lucide-react";

export function Search({ label, value, onChange, className = "" }: { label: string; value: string; onChange: (value: string) => void; className?: string }) {
  return (
    <label className={`relative block ${className}`}>
      <span className="sr-only">{label}</span>
      <Glass size={14} className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-soft" aria-hidden />
      <input
        type="search"
        value={value}
        placeholder={label}
        maxLength={400}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        className="w-full rounded-md border border-line bg-panel py-1.5 pr-2 pl-8 placeholder:text-soft"
      />
    </label>
  );
}
