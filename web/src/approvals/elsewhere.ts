import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { ask } from "../api/client";
import { useProjects, useSession, useSwitch } from "../api/session";
import type { WhereaboutsResponse } from "../api/types";

/** Switches to the project of a card that belongs to another one; true while that is in progress. */
export function useElsewhere(approvalId: string | null): boolean {
  const here = useSession().project.project_id;
  const change = useSwitch();
  const several = useProjects().length > 1;
  const { data: there, isLoading } = useQuery({
    queryKey: ["whereabouts", approvalId],
    queryFn: async () => (await ask<WhereaboutsResponse>("GET", `/console/approvals/${encodeURIComponent(approvalId ?? "")}`)).project_id,
    enabled: several && approvalId !== null,
    staleTime: Infinity,
    retry: false,
  });
  const isElsewhere = there !== undefined && there !== here;
  useEffect(() => {
    if (isElsewhere) change(there);
  }, [isElsewhere, there]);
  return isLoading || isElsewhere;
}
