/** How many calls wait for an answer; nothing where there is none. */
export function Waiting({ count, where = "", className = "ml-auto" }: { count: number; where?: string; className?: string }) {
  if (count === 0) return null;
  return (
    <span className={`rounded-full bg-accent px-1.5 text-[11px] font-medium text-on-accent tabular-nums ${className}`}>
      {count}
      <span className="sr-only"> waiting{where}</span>
    </span>
  );
}
