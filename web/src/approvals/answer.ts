import { useQueryClient } from "@tanstack/react-query";

import { ask, Problem } from "../api/client";
import { renew } from "../api/renew";
import { usePath, useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { addDecided, type Decided } from "./decided";
import type { Limits } from "./grant-dialogs";

export const CHANNEL = "console";

export interface Answer {
  approve: (card: ApprovalView, scope?: string, limits?: Limits) => Promise<void>;
  reject: (card: ApprovalView, reason: string) => Promise<void>;
  stop: (card: ApprovalView) => Promise<void>;
}

const VERDICTS: Record<string, Decided["verdict"]> = { approved: "Approved", rejected: "Refused", withdrawn: "Run stopped" };

/** The answers a person can give to a card. An approval names the digest of what was shown. */
export function useAnswer(): Answer {
  const path = usePath();
  const { name } = useSession();
  const queries = useQueryClient();
  const send = async (card: ApprovalView, address: string, body: object, answer: Partial<ApprovalView>) => {
    try {
      await ask("POST", path(address), { channel: CHANNEL, ...body });
    } catch (error) {
      // It was decided elsewhere, or the card has changed: show the present state.
      if (error instanceof Problem && error.status === 409) renew(queries, { queryKey: ["approvals"] });
      throw error;
    }
    addDecided(card, VERDICTS[answer.status ?? ""] ?? "Approved", answer.scope);
    // Shown at once, without waiting for the event.
    const told = { decided_by: name, channel: CHANNEL, decided_at: new Date().toISOString(), ...answer };
    queries.setQueriesData<ApprovalView[]>({ queryKey: ["approvals"] }, (all) =>
      all?.map((one) => (one.approval_id === card.approval_id ? { ...one, ...told } : one)),
    );
  };
  return {
    approve: (card, scope = "once", limits = {}) =>
      send(card, `/approvals/${card.approval_id}/approve`, { decision: "approved", scope, digest: card.digest, ...limits }, { status: "approved", scope }),
    reject: (card, reason) =>
      send(card, `/approvals/${card.approval_id}/reject`, { reason: reason || null }, { status: "rejected", reason: reason || null }),
    stop: (card) => send(card, stopOf(card.session_id), {}, { status: "withdrawn" }),
  };
}

/** Ends every call of a session. */
export function useStopping(): (session: string) => Promise<void> {
  const path = usePath();
  return (session) => ask("POST", path(stopOf(session)), { channel: CHANNEL });
}

function stopOf(session: string): string {
  return `/chat/sessions/${encodeURIComponent(session)}/stop`;
}

export function isOffline(error: unknown): boolean {
  return error instanceof Problem && error.status === 0;
}

export function wordsOf(error: unknown): string {
  if (isOffline(error)) return "The server cannot be reached. Your answer was not sent: decide again when the connection is back.";
  return error instanceof Error ? error.message : String(error);
}
