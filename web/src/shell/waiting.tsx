import { useDrafts } from "../api/drafts";
import { usePending } from "../approvals/pending";

interface Props {
  count: number;
  /** What is counted, for those who do not see the page. */
  what?: string;
  /** Whether it asks for nothing. */
  quiet?: boolean;
  className?: string;
}

/** How many there are; nothing where there is none. */
export function Waiting({ count, what = "waiting", quiet = false, className = "ml-auto" }: Props) {
  if (count === 0) return null;
  return (
    <span className={`rounded-full px-1.5 text-[11px] font-medium tabular-nums ${quiet ? "bg-raised text-soft" : "bg-accent text-on-accent"} ${className}`}>
      {count}
      <span className="sr-only"> {what}</span>
    </span>
  );
}

/** What a page of the navigation has to say before it is opened. */
export function PageCount({ page }: { page: string }) {
  const pending = usePending().length;
  const drafts = useDrafts().data?.drafts.length ?? 0;
  if (page === "approvals") return <Waiting count={pending} />;
  return page === "drafts" && <Waiting count={drafts} what="open" quiet />;
}
