import { queryOptions, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import { ask } from "../api/client";
import { renew } from "../api/renew";
import { pathIn, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ActivityResponse, GlimpseView } from "../api/types";
import { RECONCILE_MS, RUNNING_MS } from "./talk";

const MOST = 500;
const PAUSE_MS = 250;
const CHANGES = new Set<string>(["tool.status", "tool.undone", "tool.approval_request", "approval.resolved", "chat.message", "stream.reset"]);

/** The calls of a conversation by the ids that its messages use, kept up to date. */
export function useCalls(sessionId: string, isRunning: boolean): Map<string, GlimpseView> {
  const queries = useQueryClient();
  const project = useSession().project.project_id;
  const { data } = useQuery(callsQuery(project, sessionId, isRunning));
  useEffect(() => followCalls(queries, project, sessionId), [queries, project, sessionId]);
  return useMemo(() => new Map(data?.map((call) => [call.call_id, call])), [data]);
}

export function callsQuery(project: string, sessionId: string, isRunning: boolean) {
  return queryOptions({
    queryKey: ["calls", project, sessionId],
    queryFn: async () => (await ask<ActivityResponse>("GET", pathIn(project, `/activity?session_id=${encodeURIComponent(sessionId)}&limit=${MOST}`))).calls,
    refetchInterval: isRunning ? RUNNING_MS : RECONCILE_MS,
  });
}

/** Reads the calls again after each change, at most every `PAUSE_MS`. */
export function followCalls(queries: QueryClient, project: string, sessionId: string): () => void {
  let timer = 0;
  const stop = stream.listen((name) => {
    if (!CHANGES.has(name)) return;
    timer ||= window.setTimeout(() => {
      timer = 0;
      renew(queries, { queryKey: ["calls", project, sessionId] });
    }, PAUSE_MS);
  });
  return () => {
    window.clearTimeout(timer);
    stop();
  };
}
