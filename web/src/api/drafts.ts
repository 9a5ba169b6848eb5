import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";

import { ask } from "./client";
import { renew } from "./renew";
import { usePath, useSession } from "./session";
import { useEvent } from "./stream";
import type { DraftsResponse } from "./types";

const RECONCILE_MS = 30_000;

/** The drafts on connected machines, as these tell of them. Approvers are not told. */
export function useDrafts() {
  const path = usePath();
  const queries = useQueryClient();
  const { role, project } = useSession();
  const queryKey = ["drafts", project.project_id];
  useEvent(
    "draft.changed",
    useCallback(() => renew(queries, { queryKey: ["drafts", project.project_id] }), [queries, project.project_id]),
  );
  return useQuery({
    queryKey,
    queryFn: () => ask<DraftsResponse>("GET", path("/drafts")),
    enabled: role === "user",
    refetchInterval: RECONCILE_MS,
  });
}
