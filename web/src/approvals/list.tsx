import { useVirtualizer } from "@tanstack/react-virtual";
import { FileDiff, FileInput, FileStack, FileX, Globe, Terminal } from "lucide-react";
import { memo, useEffect, useMemo, useRef, useState } from "react";

import { serverNow } from "../api/time";
import type { ApprovalView } from "../api/types";
import { Button } from "../ui/button";
import { Countdown } from "../ui/countdown";
import { useMatches } from "../ui/matches";
import { Risk } from "../ui/risk";
import { agentName } from "../words/agent";
import { extentOf } from "../words/evidence";
import { age } from "../words/time";
import { visible } from "../words/visible";
import { Extents } from "./diff";

const ROW_HEIGHT = 84;
const NARROW_ROW_HEIGHT = 58;
const AGE_MS = 15_000;
const NARROW = "(max-width: 47.99rem)";

interface Props {
  waiting: ApprovalView[];
  shown: string | undefined;
  onSelect: (approvalId: string) => void;
  onSeveral: () => void;
}

export function WaitingList({ waiting, shown, onSelect, onSeveral }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const height = useMatches(NARROW) ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const rows = useVirtualizer({
    count: waiting.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => waiting[index]?.approval_id ?? index,
    overscan: 6,
    useFlushSync: false,
  });
  useEffect(() => rows.measure(), [height]);
  useEffect(() => {
    const at = waiting.findIndex((one) => one.approval_id === shown);
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [shown, height]);
  return (
    <section aria-label="Requests waiting for you" className="flex min-h-0 flex-col border-line max-md:max-h-26 max-md:border-b md:border-r">
      <div className="flex min-h-11.5 items-center justify-between max-md:min-h-0 max-md:py-0.5 border-b border-line pr-2 pl-4">
        <h1 className="font-medium">
          Waiting for you <span className="font-normal text-soft tabular-nums">{waiting.length || ""}</span>
        </h1>
        {waiting.length > 1 && (
          <Button look="quiet" hotkey="d" onClick={onSeveral}>
            Several…
          </Button>
        )}
      </div>
      <div ref={scroller} className="min-h-0 flex-1 overflow-auto">
        <ul className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((item) => {
            const card = waiting[item.index]!;
            return (
              <li
                key={item.key}
                className="absolute inset-x-0 contain-strict"
                style={{ height: item.size, transform: `translateY(${item.start}px)` }}
                aria-setsize={waiting.length}
                aria-posinset={item.index + 1}
              >
                <Row card={card} isShown={card.approval_id === shown} onSelect={onSelect} />
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

/** Drawn again only when its card changes, not whenever the list moves. */
const Row = memo(function Row({ card, isShown, onSelect }: { card: ApprovalView; isShown: boolean; onSelect: (approvalId: string) => void }) {
  const Icon = ICONS[card.tool_name] ?? Terminal;
  const extent = useMemo(() => extentOf(card.evidence), [card.evidence]);
  return (
    <button
      type="button"
      onClick={() => onSelect(card.approval_id)}
      aria-current={isShown}
      className={`flex h-full w-full flex-col justify-center gap-1 border-b border-line px-4 text-left ${isShown ? "bg-raised shadow-[inset_2px_0_0_var(--accent)]" : "hover:bg-raised/50"}`}
    >
      <span className="flex w-full items-center gap-2">
        <Icon size={14} className="shrink-0 text-soft" aria-hidden />
        <Description text={visible(card.description)} />
      </span>
      <span className="flex w-full items-center justify-between gap-2 text-xs text-soft">
        <Risk level={card.risk_level} />
        {extent && <Extents extent={extent} />}
        <span className="min-w-0 truncate md:hidden">{agentName(card)}</span>
        <span className="ml-auto shrink-0">
          <Countdown until={card.expires_at} total={card.timeout_seconds} />
        </span>
      </span>
      <span className="w-full truncate text-xs text-soft max-md:hidden">
        {agentName(card)} · <Age card={card} />
      </span>
    </button>
  );
});

/** In one line. A long path is cut before the name of its file. */
function Description({ text }: { text: string }) {
  const file = /\/[^/\s]{1,24}( \([^()]*\))?$/.exec(text)?.[0] ?? "";
  return (
    <span className="as-code flex min-w-0 whitespace-pre">
      <span className="overflow-hidden text-ellipsis">{text.slice(0, text.length - file.length)}</span>
      {file && <span className="shrink-0">{file}</span>}
    </span>
  );
}

/** How long ago the request was made. */
function Age({ card }: { card: ApprovalView }) {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(serverNow()), AGE_MS);
    return () => window.clearInterval(timer);
  }, []);
  const asked = new Date(new Date(card.expires_at).getTime() - card.timeout_seconds * 1000).toISOString();
  const ago = age(asked, now);
  return ago === "now" ? "just now" : `${ago} ago`;
}

const ICONS: Record<string, typeof Terminal> = {
  write_file: FileDiff,
  edit_file: FileDiff,
  move_file: FileInput,
  delete_file: FileX,
  http_request: Globe,
  apply_draft: FileStack,
};
