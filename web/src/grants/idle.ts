import { useQueries } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import { serverNow } from "../api/time";
import type { ActivityResponse, GlimpseView, GrantView } from "../api/types";

const IDLE_MS = 12 * 60 * 60 * 1000;
const READ_MS = 60_000;

/** The latest call of each session; a session that was not read yet is missing. */
export function useLastCalls(grants: GrantView[]): ReadonlyMap<string, GlimpseView> {
  const path = usePath();
  const sessions = [...new Set(grants.map((one) => one.session_id))];
  const read = useQueries({
    queries: sessions.map((session) => ({
      queryKey: ["last-call", path(""), session],
      queryFn: async () => (await ask<ActivityResponse>("GET", path(`/activity?session_id=${encodeURIComponent(session)}&limit=1`))).calls[0] ?? null,
      staleTime: READ_MS,
    })),
  });
  return new Map(sessions.flatMap((session, at) => (read[at]?.data ? [[session, read[at].data]] : [])));
}

/**
 * Splits grants into those of sessions that are in use, and those whose session has made no call for half a day. A
 * session has no end of its own, so the latter still count.
 */
export function splitByUse(grants: GrantView[], lastCalls: ReadonlyMap<string, Pick<GlimpseView, "created_at">>, now = serverNow()): { used: GrantView[]; idle: GrantView[] } {
  const isIdle = (one: GrantView) => now - new Date(latest(one.created_at, lastCalls.get(one.session_id)?.created_at)).getTime() > IDLE_MS;
  return { used: grants.filter((one) => !isIdle(one)), idle: grants.filter(isIdle) };
}

function latest(one: string, other: string | undefined): string {
  return other !== undefined && other > one ? other : one;
}
