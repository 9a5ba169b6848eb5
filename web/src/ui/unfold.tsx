import { ChevronRight } from "lucide-react";
import { useId, useState, type ReactNode } from "react";

/** A row that opens where it is; what is in it is made only then. */
export function Unfold({ title, tags, children, inside }: { title: ReactNode; tags?: ReactNode; children: ReactNode; inside: () => ReactNode }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <div className="flex items-start gap-2">
        <h2 className="min-w-0 flex-1 font-medium">
          <button
            type="button"
            aria-expanded={open}
            aria-controls={id}
            onClick={() => setOpen(!open)}
            className="flex w-full gap-1.5 rounded text-left [overflow-wrap:anywhere]"
          >
            <ChevronRight size={15} className={`mt-[3px] shrink-0 text-soft ${open ? "rotate-90" : ""}`} aria-hidden />
            <span className="min-w-0">{title}</span>
          </button>
        </h2>
        {tags}
      </div>
      <div className="pl-[21px]">
        {children}
        <div id={id}>{open && inside()}</div>
      </div>
    </>
  );
}
