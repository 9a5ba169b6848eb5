import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ActivityResponse, GlimpseView } from "../api/types";

const MOST = 500;
const PAUSE_MS = 250;

/** The calls of a conversation by the ids that its messages know them by, kept up to date. */
export function useCalls(sessionId: string): Map<string, GlimpseView> {
  const path = usePath();
  const queries = useQueryClient();
  const { project } = useSession();
  const key = ["calls", project.project_id, sessionId];
  const { data } = useQuery({
    queryKey: key,
    queryFn: async () => (await ask<ActivityResponse>("GET", path(`/activity?session_id=${encodeURIComponent(sessionId)}&limit=${MOST}`))).calls,
  });
  useEffect(() => {
    let timer = 0;
    const stop = stream.listen((name) => {
      if (name !== "tool.status" && name !== "tool.approval_request" && name !== "approval.resolved") return;
      timer ||= window.setTimeout(() => {
        timer = 0;
        void queries.invalidateQueries({ queryKey: key });
      }, PAUSE_MS);
    });
    return () => {
      window.clearTimeout(timer);
      stop();
    };
  }, [queries, project.project_id, sessionId]);
  return useMemo(() => new Map(data?.map((call) => [call.call_id, call])), [data]);
}
