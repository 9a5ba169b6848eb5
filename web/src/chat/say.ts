import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { MessageRequest, MessageResponse } from "../api/types";
import { heard, ran } from "./talk";

/** Messages without a response: sent again, they keep their id and count once. */
const unanswered = new Map<string, string>();

/** Sends messages; `trouble` is the server's error message. */
export function useSay() {
  const path = usePath();
  const queries = useQueryClient();
  const project = useSession().project.project_id;
  const [trouble, setTrouble] = useState<string | null>(null);
  const say = async (request: MessageRequest): Promise<MessageResponse | null> => {
    setTrouble(null);
    const said = JSON.stringify([project, request]);
    const id = unanswered.get(said) ?? `msg_${crypto.randomUUID()}`;
    unanswered.set(said, id);
    try {
      const told = await ask<MessageResponse>("POST", path("/chat/messages"), { ...request, message_id: id });
      unanswered.delete(said);
      heard(queries, project, told.message);
      ran(queries, project, told.run);
      return told;
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
      return null;
    }
  };
  const stop = async (runId: string) => {
    setTrouble(null);
    try {
      await ask("POST", path(`/chat/runs/${runId}/stop`), { channel: "console" });
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  return { say, stop, trouble };
}
