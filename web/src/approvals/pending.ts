import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { ask, Problem } from "../api/client";
import { usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ApprovalRequest, ApprovalResolved, ApprovalsResponse, ApprovalView } from "../api/types";

const MOST = 1000;

function useKey(): [string, string] {
  return ["approvals", useSession().project.project_id];
}

/** What waits for an answer, most urgent first; kept up to date by the stream. */
export function usePending(): ApprovalView[] {
  const { data } = useApprovals();
  return data?.filter((one) => one.status === "pending") ?? [];
}

/** What waits, and what was decided since this page was opened. */
export function useApprovals() {
  const path = usePath();
  return useQuery({
    queryKey: useKey(),
    queryFn: async () => {
      const told = await ask<ApprovalsResponse>("GET", path(`/approvals?status=pending&limit=${MOST}`));
      return told.approvals.sort(byUrgency);
    },
  });
}

/** The one that is looked at. It stays also when it waits no more: somebody may want to know who has decided. */
export function useApproval(id: string | null): { card: ApprovalView | undefined; isUnknown: boolean } {
  const path = usePath();
  const [, project] = useKey();
  const { data: all } = useApprovals();
  const last = useRef<{ project: string; card: ApprovalView }>(undefined);
  const listed = all?.find((one) => one.approval_id === id);
  const asked = useQuery({
    queryKey: ["approval", project, id],
    queryFn: () => ask<ApprovalView>("GET", path(`/approvals/${encodeURIComponent(id ?? "")}`)),
    enabled: id !== null && all !== undefined && !listed,
  });
  const card = listed ?? (id === null ? undefined : asked.data);
  if (card) last.current = { project, card };
  const isRefused = asked.error instanceof Problem && asked.error.status >= 400 && asked.error.status < 500;
  const before = last.current?.project === project && last.current.card.approval_id === id ? last.current.card : undefined;
  return { card: card ?? before, isUnknown: !card && !before && isRefused };
}

/** Keeps what waits true; mounted once. */
export function useApprovalEvents(): void {
  const queries = useQueryClient();
  const key = useKey();
  const [, project] = key;
  useEffect(
    () =>
      stream.listen((name, event) => {
        const change = (edit: (all: ApprovalView[]) => ApprovalView[]) => {
          queries.setQueryData<ApprovalView[]>(["approvals", project], (all) => all && edit(all));
          // An answer that is under way may be older than this.
          if (queries.isFetching({ queryKey: ["approvals", project] })) void queries.invalidateQueries({ queryKey: ["approvals", project] });
        };
        if (name === "tool.approval_request") {
          const asked = event as ApprovalRequest;
          if (asked.status !== "pending") return;
          change((all) => [...all.filter((one) => one.approval_id !== asked.approval_id), asked].sort(byUrgency));
        } else if (name === "approval.resolved") {
          const ended = event as ApprovalResolved;
          change((all) => all.map((one) => (one.approval_id === ended.approval_id ? { ...one, ...answerOf(ended) } : one)));
          void queries.invalidateQueries({ queryKey: ["approval", project, ended.approval_id] });
        } else if (name === "stream.reset") {
          void queries.invalidateQueries({ queryKey: ["approvals", project] });
        }
      }),
    [queries, project],
  );
}

function answerOf(ended: ApprovalResolved): Partial<ApprovalView> {
  const { status, decided_by, decided_at, channel, scope, reason } = ended;
  return { status, decided_by, decided_at, channel, scope, reason };
}

function byUrgency(one: ApprovalView, other: ApprovalView): number {
  return one.expires_at < other.expires_at ? -1 : Number(one.expires_at > other.expires_at);
}
