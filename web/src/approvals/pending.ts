import { queryOptions, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { ask, Problem } from "../api/client";
import { renew } from "../api/renew";
import { pathIn, usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ApprovalRequest, ApprovalResolved, ApprovalsResponse, ApprovalView } from "../api/types";

const MOST = 1000;
const RECONCILE_MS = 30_000;

/** The open requests, most urgent first; kept up to date by the stream. */
export function usePending(): ApprovalView[] {
  const { data } = useApprovals();
  return data?.filter((one) => one.status === "pending") ?? [];
}

/** The open requests, and those that were decided since they were last read. */
export function useApprovals() {
  return useQuery(approvalsQuery(useSession().project.project_id));
}

export function approvalsQuery(project: string) {
  return queryOptions({
    queryKey: ["approvals", project],
    queryFn: async () => {
      const told = await ask<ApprovalsResponse>("GET", pathIn(project, `/approvals?status=pending&limit=${MOST}`));
      return told.approvals.sort(byUrgency);
    },
    refetchInterval: RECONCILE_MS,
  });
}

/** The request that is shown. It stays after a decision, so that the page can say who decided. */
export function useApproval(id: string | null): { card: ApprovalView | undefined; isUnknown: boolean } {
  const path = usePath();
  const project = useSession().project.project_id;
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

/** Keeps the list up to date; mounted once. */
export function useApprovalEvents(): void {
  const queries = useQueryClient();
  const project = useSession().project.project_id;
  useEffect(() => followApprovals(queries, project), [queries, project]);
}

export function followApprovals(queries: QueryClient, project: string): () => void {
  const queryKey = ["approvals", project];
  const change = (edit: (all: ApprovalView[]) => ApprovalView[]) => {
    queries.setQueryData<ApprovalView[]>(queryKey, (all) => all && edit(all));
    if (queries.isFetching({ queryKey })) renew(queries, { queryKey });
  };
  return stream.listen((name, event) => {
    if (name === "tool.approval_request") {
      const asked = event as ApprovalRequest;
      if (asked.status !== "pending") return;
      change((all) => {
        const before = all.find((one) => one.approval_id === asked.approval_id);
        // An event that comes late must not open again what was decided since.
        if (before && before.status !== "pending") return all;
        return [...all.filter((one) => one !== before), asked].sort(byUrgency);
      });
    } else if (name === "approval.resolved") {
      const ended = event as ApprovalResolved;
      change((all) => all.map((one) => (one.approval_id === ended.approval_id ? { ...one, ...answerOf(ended) } : one)));
      renew(queries, { queryKey: ["approval", project, ended.approval_id] });
    } else if (name === "stream.reset") {
      renew(queries, { queryKey });
    }
  });
}

function answerOf(ended: ApprovalResolved): Partial<ApprovalView> {
  const { status, decided_by, decided_at, channel, scope, reason } = ended;
  return { status, decided_by, decided_at, channel, scope, reason };
}

function byUrgency(one: ApprovalView, other: ApprovalView): number {
  return one.expires_at < other.expires_at ? -1 : Number(one.expires_at > other.expires_at);
}
