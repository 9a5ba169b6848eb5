import { memo } from "react";

import { useSession } from "../api/session";
import type { GlimpseView } from "../api/types";
import { Link } from "../router";
import { CallState } from "../ui/call-state";
import { Risk } from "../ui/risk";
import { agentName } from "../words/agent";
import { glance, isCommand } from "../words/glance";
import { clock, duration } from "../words/time";
import { visible } from "../words/visible";
import { shortMoment } from "./when";

// Narrow screens leave columns out; the details have everything.
const GRID =
  "grid items-center gap-x-3 px-4 grid-cols-[minmax(0,1fr)_auto] @xl:grid-cols-[5.5rem_8.5rem_minmax(0,1fr)] @3xl:grid-cols-[7rem_8.5rem_minmax(0,1fr)_6rem] @5xl:grid-cols-[7rem_8.5rem_minmax(0,1fr)_5rem_6rem_7.5rem] @7xl:grid-cols-[7rem_8.5rem_minmax(0,1fr)_6rem_6rem_6rem_8rem_3.5rem]";

export function Heads() {
  const head = "truncate font-medium";
  return (
    // Keeps room for the scroll bar of the rows, so that the heads stand above their columns.
    <div role="rowgroup" className="overflow-hidden border-y border-line bg-bg text-xs text-soft [scrollbar-gutter:stable]">
      <div role="row" aria-rowindex={1} className={`${GRID} py-1.5`}>
        <span role="columnheader" className={`${head} @max-xl:hidden`}>
          Requested
        </span>
        <span role="columnheader" className={`${head} @max-xl:order-2`}>
          State
        </span>
        <span role="columnheader" className={head}>
          Call
        </span>
        <span role="columnheader" className={`${head} @max-5xl:hidden`}>
          Agent
        </span>
        <span role="columnheader" className={`${head} @max-7xl:hidden`}>
          Session
        </span>
        <span role="columnheader" className={`${head} @max-3xl:hidden`}>
          Risk
        </span>
        <span role="columnheader" className={`${head} @max-5xl:hidden`}>
          Decision
        </span>
        <span role="columnheader" className={`${head} text-right @max-7xl:hidden`}>
          Time
        </span>
      </div>
    </div>
  );
}

interface Props {
  call: GlimpseView | undefined;
  number: number;
  isShown: boolean;
  address: string;
}

export const Row = memo(function Row({ call, number, isShown, address }: Props) {
  const { name } = useSession();
  if (!call) return <Unread number={number} />;
  return (
    <div
      role="row"
      aria-rowindex={number}
      aria-selected={isShown}
      className={`relative h-full border-b border-line text-[13px] ${GRID} ${isShown ? "bg-raised shadow-[inset_2px_0_0_var(--accent)]" : "hover:bg-raised/50"}`}
    >
      <span role="cell" className="truncate text-xs text-soft tabular-nums @max-xl:hidden">
        {shortMoment(call.created_at)}
      </span>
      <span role="cell" className="flex items-center @max-xl:order-2 @max-xl:flex-col @max-xl:items-end">
        <CallState call={call} className="text-xs" />
        <span className="text-[11px] leading-4 text-soft tabular-nums @xl:hidden">{shortMoment(call.created_at)}</span>
      </span>
      <span role="cell" className="flex min-w-0 items-baseline gap-2">
        {/* The link covers the row, so a row is one tab stop. */}
        <Link href={address} className="min-w-0 overflow-hidden font-mono text-ellipsis whitespace-pre before:absolute before:inset-0">
          {glance(call.tool_name, call.tool_params)}
        </Link>
        {!isCommand(call.tool_name, call.tool_params) && <span className="max-w-1/2 shrink-0 truncate text-[11px] text-soft">{visible(call.tool_name)}</span>}
      </span>
      <span role="cell" className="truncate text-xs text-soft @max-5xl:hidden" title={agentName(call)}>
        {agentName(call)}
      </span>
      <span role="cell" className="truncate font-mono text-xs text-soft @max-7xl:hidden" title={visible(call.session_id)}>
        {visible(call.session_id)}
      </span>
      <span role="cell" className="@max-3xl:hidden">
        {call.error_type !== "validation" && <Risk level={call.risk_level} />}
      </span>
      <span role="cell" className="truncate text-xs text-soft @max-5xl:hidden">
        {decided(call, name)}
      </span>
      <span role="cell" className="text-right text-xs text-soft tabular-nums @max-7xl:hidden">
        {call.execution_time_ms === null ? "" : duration(call.execution_time_ms)}
      </span>
    </div>
  );
});

function Unread({ number }: { number: number }) {
  return (
    <div role="row" aria-rowindex={number} aria-busy className={`h-full border-b border-line ${GRID}`}>
      <span role="cell" className="h-2.5 rounded bg-raised" />
      <span role="cell" className="h-2.5 rounded bg-raised @max-xl:hidden" />
      <span role="cell" className="h-2.5 w-2/3 rounded bg-raised @max-xl:hidden" />
    </div>
  );
}

/** Who decided, and how long that took. */
function decided(call: GlimpseView, me: string): string {
  const { approved_by: by } = call;
  if (call.status === "awaiting_approval") return "waiting for you";
  if (call.status === "rejected") return `refused by ${call.decided_by === me ? "you" : visible(call.decided_by ?? "a person")}`;
  if (call.error_type === "denied") return "refused by a rule";
  if (call.error_type === "too_many_questions") return "too many open questions";
  if (call.status === "timeout" && !call.approved_at) return "no answer in time";
  if (!by) return "";
  const who = by === "policy" ? "allowed by the rules" : by.startsWith("grt_") ? "a grant" : by === me ? "you" : visible(by);
  if (by === "policy" || by.startsWith("grt_") || !call.approved_at) return who;
  const seconds = (new Date(call.approved_at).getTime() - new Date(call.created_at).getTime()) / 1000;
  return `${who}, after ${clock(seconds)}`;
}
