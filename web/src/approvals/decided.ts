import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { ask } from "../api/client";
import { ENDED } from "../api/propose";
import { renew } from "../api/renew";
import { usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ApprovalView, RecordView, StatusChange } from "../api/types";
import { outcomeOf, type Outcome } from "../words/outcome";

/** A decision made on this page, and the call that it was about. */
export interface Decided {
  card: ApprovalView;
  verdict: "Approved" | "Refused" | "Run stopped";
  /** What else the approval covers: a grant. */
  scope?: string | null | undefined;
  /** Null for a decision after which nothing runs, and until the call has been read. */
  outcome: Outcome | null;
  reason: string | null;
}

type Entry = Pick<Decided, "card" | "verdict" | "scope">;

const MOST = 3;
const RECONCILE_MS = 5_000;

let entries: Entry[] = [];
const watchers = new Set<() => void>();

export function addDecided(card: ApprovalView, verdict: Decided["verdict"], scope?: Decided["scope"]): void {
  change([{ card, verdict, scope }, ...entries.filter((one) => one.card.approval_id !== card.approval_id)].slice(0, 2 * MOST));
}

export function forgetDecided(): void {
  change([]);
}

function change(to: Entry[]): void {
  entries = to;
  watchers.forEach((watcher) => watcher());
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** The latest decision, and earlier ones whose call still runs or went wrong. */
export function useDecided(): Decided[] {
  const path = usePath();
  const { project } = useSession();
  const queries = useQueryClient();
  const all = useSyncExternalStore(watch, () => entries);
  const followed = all.filter((one) => one.verdict === "Approved");
  const calls = useQueries({
    queries: followed.map(({ card }) => ({
      queryKey: ["decided", project.project_id, card.tool_id],
      queryFn: () => ask<RecordView>("GET", path(`/activity/${encodeURIComponent(card.tool_id)}`)),
      refetchInterval: (query: { state: { data?: RecordView | undefined } }) => (ENDED.has(query.state.data?.status ?? "") ? false : RECONCILE_MS),
    })),
  });
  useEffect(
    () =>
      stream.listen((name, event) => {
        if (name === "tool.status") renew(queries, { queryKey: ["decided", project.project_id, (event as StatusChange).tool_id] });
      }),
    [queries, project.project_id],
  );
  const shown = all.map((one): Decided => {
    const call = calls[followed.indexOf(one)]?.data;
    // The list of calls may be read a moment before the decision is stored.
    const outcome = call && call.status !== "awaiting_approval" ? outcomeOf(call) : null;
    return { ...one, outcome, reason: (outcome?.tone === "bad" && call?.error) || null };
  });
  return shown.filter((one, at) => at === 0 || isOpen(one)).slice(0, MOST);
}

function isOpen({ verdict, outcome }: Decided): boolean {
  return verdict === "Approved" && outcome?.tone !== "good";
}
