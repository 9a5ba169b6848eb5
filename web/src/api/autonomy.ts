import { useQuery } from "@tanstack/react-query";

import { ask } from "./client";
import { usePath } from "./session";
import type { AutonomyResponse } from "./types";

/** What agents of this project may do without asking, where nothing else is said for them. */
export function useAutonomy() {
  const path = usePath();
  return useQuery({ queryKey: ["autonomy", path("")], queryFn: () => ask<AutonomyResponse>("GET", path("/autonomy")) });
}
