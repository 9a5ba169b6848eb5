import { FileQuestion, Inbox } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { useSession } from "../api/session";
import { go, usePlace } from "../router";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { useKeys } from "../ui/keys";
import { visible } from "../words/visible";
import { Card } from "./card";
import { DecidedLines } from "./decided-lines";
import { useElsewhere } from "./elsewhere";
import { KeysDialog } from "./keys-dialog";
import { WaitingList } from "./list";
import { NothingWaits } from "./nothing";
import { useApproval, useApprovals } from "./pending";
import { SeveralDialog } from "./several";

/** The open requests on the left, the evidence beside them, the decision always in the same place. */
export function ApprovalsPage() {
  const { data: all, isPending, error, isFetching, refetch } = useApprovals();
  const { id } = usePlace();
  const { project } = useSession();
  // A card chosen here belongs to the project that was shown then. Only an address from outside leads to another project.
  const own = useRef<string | null>(null);
  const select = useCallback((approvalId: string | undefined) => {
    own.current = approvalId ?? null;
    go(approvalId ? `/approvals/${approvalId}` : "/approvals", { replace: true });
  }, []);
  const [asksForKeys, setAsksForKeys] = useState(false);
  const [decidesSeveral, setDecidesSeveral] = useState(false);
  const waiting = useMemo(() => all?.filter((one) => one.status === "pending") ?? [], [all]);
  const { card, isUnknown } = useApproval(id);
  const isLeft = isUnknown && id === own.current;
  const isElsewhere = useElsewhere(isUnknown && !isLeft ? id : null);
  const shown = id === null || isLeft ? waiting[0] : card;
  // Where the shown card is in the list, or was while it waited.
  const place = useRef(0);
  const at = waiting.findIndex((one) => one.approval_id === shown?.approval_id);
  if (at >= 0) place.current = at;
  const latest = useRef(waiting);
  latest.current = waiting;
  const step = (by: number) => {
    const to = at >= 0 ? at + by : by > 0 ? place.current : place.current - 1;
    const next = waiting[Math.min(Math.max(to, 0), waiting.length - 1)];
    if (next) select(next.approval_id);
  };
  /** To the card that takes this one's place in the list, or else to the last one. */
  const leave = (approvalId: string) => {
    const rest = latest.current.filter((one) => one.approval_id !== approvalId);
    select(rest[Math.min(place.current, rest.length - 1)]?.approval_id);
  };
  useKeys({ j: () => step(1), k: () => step(-1), d: waiting.length > 1 ? () => setDecidesSeveral(true) : undefined, "?": () => setAsksForKeys(true) });
  useEffect(() => {
    if ((id === null || isLeft) && id !== (shown?.approval_id ?? null)) select(shown?.approval_id);
  });

  return (
    <div className="grid h-full min-h-0 short:max-md:block short:max-md:overflow-y-auto max-md:grid-rows-[auto_minmax(0,1fr)] md:grid-cols-[20rem_minmax(0,1fr)]">
      <WaitingList waiting={waiting} shown={shown?.approval_id} onSelect={select} onSeveral={() => setDecidesSeveral(true)} />
      <main className="flex min-h-0 min-w-0 flex-col">
        <DecidedLines key={project.project_id} />
        {shown ? (
          <Card key={shown.approval_id} card={shown} onNext={(next) => (next ? select(next) : leave(shown.approval_id))} />
        ) : error ? (
          <Empty icon={<Inbox size={20} />} title="The open requests cannot be loaded">
            <p role="alert">{visible(error.message)}</p>
            <Button className="mt-4" disabled={isFetching} onClick={() => void refetch()}>
              Try again
            </Button>
          </Empty>
        ) : isUnknown && !isElsewhere ? (
          <Empty icon={<FileQuestion size={20} />} title="There is no such request here">
            <Button className="mt-4" onClick={() => select(undefined)}>
              Show open requests
            </Button>
          </Empty>
        ) : (
          !isPending && id === null && <NothingWaits />
        )}
      </main>
      <SeveralDialog all={all ?? []} open={decidesSeveral} onClose={() => setDecidesSeveral(false)} />
      <KeysDialog open={asksForKeys} onClose={() => setAsksForKeys(false)} />
    </div>
  );
}
