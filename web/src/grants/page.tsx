import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useCallback, useState } from "react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import { useEvent } from "../api/stream";
import type { GrantsResponse } from "../api/types";
import { Answer } from "../ui/answer";
import { Empty } from "../ui/empty";
import { List } from "../ui/list";
import { Page } from "../ui/page";
import { GrantRow } from "./row";

// Uses are counted down by calls that ask nobody, so nothing tells of them.
const LOOK_EVERY_MS = 5_000;

/** The answers that were given ahead, and still let calls pass. */
export default function GrantsPage() {
  const path = usePath();
  const queries = useQueryClient();
  const [said, setSaid] = useState("");
  const grants = useQuery({
    queryKey: ["grants", path("")],
    queryFn: () => ask<GrantsResponse>("GET", path("/grants")),
    refetchInterval: LOOK_EVERY_MS,
  });
  const lookAgain = useCallback(() => void queries.invalidateQueries({ queryKey: ["grants"] }), [queries]);
  useEvent("approval.resolved", lookAgain);
  return (
    <Page title="Grants" about="What passes without asking you, because you said so. What you take back is asked about again at once.">
      <p role="status" className={said ? "mb-3 text-soft" : "sr-only"}>
        {said}
      </p>
      <Answer to={grants}>
        {({ grants: given }) =>
          given.length === 0 ? (
            <Empty icon={<KeyRound size={20} />} title="No grants">
              Every call that needs a person is put to you. With “Approve more” on a card, you can let its class pass for a while; it is listed here then.
            </Empty>
          ) : (
            <List label="Grants">
              {given.map((one) => (
                <GrantRow key={one.grant_id} grant={one} onSaid={setSaid} />
              ))}
            </List>
          )
        }
      </Answer>
    </Page>
  );
}
