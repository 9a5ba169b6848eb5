import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { PolicyResponse } from "../api/types";
import { Answer } from "../ui/answer";
import { Page } from "../ui/page";
import { Holds } from "./holds";
import { Rules } from "./rules";
import { TryIt } from "./try-it";

/** The verdict for any call, and the rules behind it. */
export default function PolicyPage() {
  const path = usePath();
  const policy = useQuery({ queryKey: ["policy", path("")], queryFn: () => ask<PolicyResponse>("GET", path("/policy")) });
  return (
    <Page title="Policy" about="Which calls run without asking, which ask you, and which are refused.">
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
