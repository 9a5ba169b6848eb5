import { MessagesSquare, Plus } from "lucide-react";

import type { TalkView } from "../api/types";
import { usePending } from "../approvals/pending";
import { Link } from "../router";
import { moment } from "../words/time";
import { visible } from "../words/visible";

const STATES: Record<string, string> = { waiting: "waiting for you", running: "working", failed: "failed", stopped: "stopped" };
const DOTS: Record<string, string> = { waiting: "bg-medium", running: "bg-accent", failed: "bg-critical", stopped: "bg-medium" };

export function Sessions({ talks, shown, className }: { talks: TalkView[] | undefined; shown: string | null; className: string }) {
  const waiting = new Set(usePending().map((one) => one.session_id));
  const stateOf = (talk: TalkView) => (talk.status === "running" && waiting.has(talk.session_id) ? "waiting" : talk.status);
  return (
    <section aria-label="Conversations" className={`flex min-h-0 flex-col border-line md:border-r ${className}`}>
      <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
        <h1 className="font-medium">Chat</h1>
        <Link href="/chat/new" className="inline-flex items-center gap-1 rounded-md border border-line bg-panel px-2 py-1 hover:bg-raised">
          <Plus size={14} aria-hidden />
          New
        </Link>
      </div>
      {talks?.length === 0 && (
        <p className="flex gap-2 p-4 text-soft">
          <MessagesSquare size={16} className="mt-0.5 shrink-0" aria-hidden />
          No conversations yet.
        </p>
      )}
      <ul className="min-h-0 flex-1 overflow-auto">
        {talks?.map((talk) => (
          <li key={talk.session_id}>
            <Link
              href={`/chat/${encodeURIComponent(talk.session_id)}`}
              aria-current={talk.session_id === shown ? "page" : undefined}
              className={`block border-b border-line px-4 py-2.5 ${talk.session_id === shown ? "bg-raised shadow-[inset_2px_0_0_var(--accent)]" : "hover:bg-raised/50"}`}
            >
              <span className="block truncate">{visible(talk.title)}</span>
              <span className="flex items-center gap-1.5 text-xs text-soft">
                {STATES[stateOf(talk)] && (
                  <>
                    <span className={`size-1.5 rounded-full ${DOTS[stateOf(talk)]}`} aria-hidden />
                    {STATES[stateOf(talk)]}
                    <span aria-hidden>·</span>
                  </>
                )}
                {moment(talk.last_at)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
