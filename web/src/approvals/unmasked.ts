import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { ApprovalView } from "../api/types";

/** The card in full. Masked parts are not stored: they come from the machine, and are dropped with the card. */
export function useUnmasked(card: ApprovalView): ApprovalView {
  const path = usePath();
  const { project } = useSession();
  const isMasked = card.masked > 0 && card.status === "pending";
  const { data: full, error } = useQuery({
    queryKey: ["unmasked", project.project_id, card.approval_id, card.digest],
    queryFn: () => ask<ApprovalView>("GET", path(`/approvals/${encodeURIComponent(card.approval_id)}/unmasked`)),
    enabled: isMasked,
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
    refetchInterval: (query) => (query.state.error ? 5_000 : false),
  });
  if (!isMasked) return card;
  if (full) return full;
  const why = error ? `The full text could not be fetched: ${error.message}.` : "Fetching the full text from the machine…";
  return { ...card, notes: [...card.notes, why] };
}
