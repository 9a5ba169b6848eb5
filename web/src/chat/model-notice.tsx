import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { SelfResponse } from "../api/types";
import { Notice } from "../ui/notice";
import { visible } from "../words/visible";

/** The model of the project, or the reason why there is none. */
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
      <p className="font-medium">No model is set up yet</p>
      <p className="text-soft">{visible(trouble)}</p>
      <p className="mt-1 text-soft">Your own agents can use Handrail without a model. This page notices by itself when one is set up.</p>
    </Notice>
  );
}
