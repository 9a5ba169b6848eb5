import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { PolicyResponse } from "../api/types";
import { Answer } from "../ui/answer";
import { Page } from "../ui/page";
import { Holds } from "./holds";
import { Rules } from "./rules";
import { TryIt } from "./try-it";

/** What would be said to a call, and the rules it is judged by. */
export default function PolicyPage() {
  const path = usePath();
  const policy = useQuery({ queryKey: ["policy", path("")], queryFn: () => ask<PolicyResponse>("GET", path("/policy")) });
  return (
    <Page title="Policy" about="What passes by itself, what asks you, and what is refused.">
      <Answer to={policy}>
        {({ layers, effective }) => (
          <div className="space-y-8">
            <TryIt places={effective} />
            <Holds places={effective} />
            <Rules layers={layers} places={effective} />
          </div>
        )}
      </Answer>
    </Page>
  );
}
