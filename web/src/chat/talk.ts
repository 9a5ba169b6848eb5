import { queryOptions, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { ask } from "../api/client";
import { renew } from "../api/renew";
import { pathIn, usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ChatMessage, ChatRun, MessagesResponse, MessageView, RunView, TalksResponse, TalkView } from "../api/types";
import { forget, listenForPieces } from "./pieces";

export interface Talk {
  messages: MessageView[];
  run: RunView | null;
}

const AT_A_TIME = 200;
/** How often a conversation is read again, whatever the stream says. */
export const RUNNING_MS = 10_000;
export const RECONCILE_MS = 60_000;

/** The conversations, the latest first. */
export function useTalks() {
  const path = usePath();
  const { project } = useSession();
  return useQuery({
    queryKey: ["talks", project.project_id],
    queryFn: async () => (await ask<TalksResponse>("GET", path("/chat/sessions"))).sessions,
  });
}

/** The messages of one conversation, and its latest run. */
export function useTalk(sessionId: string) {
  return useQuery(talkQuery(useSession().project.project_id, sessionId));
}

export function talkQuery(project: string, sessionId: string) {
  return queryOptions({
    queryKey: ["talk", project, sessionId],
    queryFn: async (): Promise<Talk> => {
      const messages: MessageView[] = [];
      for (;;) {
        const after = messages.at(-1)?.seq ?? 0;
        const address = pathIn(project, `/chat/messages?session_id=${encodeURIComponent(sessionId)}&after=${after}&limit=${AT_A_TIME}`);
        const told = await ask<MessagesResponse>("GET", address);
        messages.push(...told.messages);
        if (told.messages.length < AT_A_TIME) return { messages, run: told.run };
      }
    },
    refetchInterval: (query) => (query.state.data?.run?.status === "running" ? RUNNING_MS : RECONCILE_MS),
  });
}

/** Keeps conversations up to date; mounted once. */
export function useChatEvents(): void {
  const queries = useQueryClient();
  const project = useSession().project.project_id;
  useEffect(() => {
    const stopPieces = listenForPieces();
    const stop = followTalks(queries, project);
    return () => {
      stopPieces();
      stop();
    };
  }, [queries, project]);
}

export function followTalks(queries: QueryClient, project: string): () => void {
  return stream.listen((name, event) => {
    if (name === "chat.message") heard(queries, project, event as ChatMessage);
    else if (name === "chat.run") ran(queries, project, event as ChatRun);
    else if (name === "stream.reset") renew(queries, { predicate: (one) => ["talk", "talks"].includes(String(one.queryKey[0])) });
  });
}

/** Adds a message that is next in its conversation, and otherwise reads the conversation again. */
export function heard(queries: QueryClient, project: string, message: MessageView): void {
  const queryKey = ["talk", project, message.session_id];
  const before = queries.getQueryData<Talk>(queryKey);
  const last = before?.messages.at(-1)?.seq ?? 0;
  if (before && message.seq === last + 1) queries.setQueryData<Talk>(queryKey, { ...before, messages: [...before.messages, message] });
  // A read in progress may be older than the message, and would remove it again.
  if (message.seq > last + 1 || queries.isFetching({ queryKey })) renew(queries, { queryKey });
  const talks = queries.getQueryData<TalkView[]>(["talks", project]);
  if (!talks?.some((one) => one.session_id === message.session_id)) renew(queries, { queryKey: ["talks", project] });
}

/** Shows what a run has come to. The conversation is read again, because the answer to a request may overtake events. */
export function ran(queries: QueryClient, project: string, run: RunView): void {
  const queryKey = ["talk", project, run.session_id];
  queries.setQueryData<Talk>(queryKey, (talk) => talk && { ...talk, run: laterOf(talk.run, run) });
  if (run.status !== "running") forget(run.session_id);
  renew(queries, { queryKey });
  renew(queries, { queryKey: ["talks", project] });
}

function laterOf(one: RunView | null, other: RunView): RunView {
  if (!one || one.created_at < other.created_at) return other;
  return one.run_id === other.run_id && one.status === "running" ? other : one;
}
