import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ChatMessage, ChatRun, MessagesResponse, MessageView, RunView, TalksResponse, TalkView } from "../api/types";
import { forget, listenForPieces } from "./pieces";

export interface Talk {
  messages: MessageView[];
  run: RunView | null;
}

const AT_A_TIME = 200;

/** The conversations, the latest first. */
export function useTalks() {
  const path = usePath();
  const { project } = useSession();
  return useQuery({
    queryKey: ["talks", project.project_id],
    queryFn: async () => (await ask<TalksResponse>("GET", path("/chat/sessions"))).sessions,
  });
}

/** All that was said in one of them. */
export function useTalk(sessionId: string) {
  const path = usePath();
  const { project } = useSession();
  return useQuery({
    queryKey: ["talk", project.project_id, sessionId],
    queryFn: async (): Promise<Talk> => {
      const messages: MessageView[] = [];
      for (;;) {
        const after = messages.at(-1)?.seq ?? 0;
        const address = path(`/chat/messages?session_id=${encodeURIComponent(sessionId)}&after=${after}&limit=${AT_A_TIME}`);
        const told = await ask<MessagesResponse>("GET", address);
        messages.push(...told.messages);
        if (told.messages.length < AT_A_TIME) return { messages, run: told.run };
      }
    },
  });
}

/** Keeps conversations true; mounted once. */
export function useChatEvents(): void {
  const queries = useQueryClient();
  const project = useSession().project.project_id;
  useEffect(() => {
    const stopPieces = listenForPieces();
    const stop = stream.listen((name, event) => {
      if (name === "chat.message") heard(queries, project, event as ChatMessage);
      else if (name === "chat.run") ran(queries, project, event as ChatRun);
      else if (name === "stream.reset") void queries.invalidateQueries({ predicate: (one) => ["talk", "talks"].includes(String(one.queryKey[0])) });
    });
    return () => {
      stopPieces();
      stop();
    };
  }, [queries, project]);
}

export function heard(queries: QueryClient, project: string, message: MessageView): void {
  const key = ["talk", project, message.session_id];
  const before = queries.getQueryData<Talk>(key);
  if (before) {
    const others = before.messages.filter((one) => one.seq !== message.seq);
    queries.setQueryData<Talk>(key, { ...before, messages: [...others, message].sort((one, other) => one.seq - other.seq) });
    if (message.seq > (before.messages.at(-1)?.seq ?? 0) + 1) void queries.invalidateQueries({ queryKey: key });
  }
  const talks = queries.getQueryData<TalkView[]>(["talks", project]);
  if (!talks?.some((one) => one.session_id === message.session_id)) void queries.invalidateQueries({ queryKey: ["talks", project] });
}

export function ran(queries: QueryClient, project: string, run: RunView): void {
  const key = ["talk", project, run.session_id];
  queries.setQueryData<Talk>(key, (talk) => talk && { ...talk, run });
  if (run.status !== "running") {
    forget(run.session_id);
    void queries.invalidateQueries({ queryKey: key });
  }
  void queries.invalidateQueries({ queryKey: ["talks", project] });
}
