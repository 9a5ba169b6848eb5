import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { SelfResponse } from "../api/types";
import { Notice } from "../ui/notice";
import { visible } from "../words/visible";

/** Which model answers here, and why none does where none can. */
export function useModel() {
  const path = usePath();
  const { project } = useSession();
  const { data } = useQuery({
    queryKey: ["self", project.project_id],
    queryFn: () => ask<SelfResponse>("GET", path("/self")),
    staleTime: 10_000,
  });
  return data?.model;
}

export function NoModel({ trouble }: { trouble: string }) {
  return (
    <Notice>
      <p className="font-medium">No model can answer yet</p>
      <p className="text-soft">{visible(trouble)}</p>
      <p className="mt-1 text-soft">Agents of your own can use Handrail without one. Come back to this tab when it is set; it looks again by itself.</p>
    </Notice>
  );
}
