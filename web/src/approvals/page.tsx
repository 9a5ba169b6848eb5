import { Check, FileQuestion, Inbox } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { go, usePlace } from "../router";
import { Button } from "../ui/button";
import { Empty } from "../ui/empty";
import { useKeys } from "../ui/keys";
import { Card } from "./card";
import { KeysDialog } from "./keys-dialog";
import { WaitingList } from "./list";
import { useApproval, useApprovals } from "./pending";
import { SeveralDialog } from "./several";

const select = (approvalId: string | undefined) => go(approvalId ? `/approvals/${approvalId}` : "/approvals", { replace: true });

/** What waits on the left, the evidence beside it, the decision always in the same place. */
export function ApprovalsPage() {
  const { data: all, isPending } = useApprovals();
  const { id } = usePlace();
  const [asksForKeys, setAsksForKeys] = useState(false);
  const [decidesSeveral, setDecidesSeveral] = useState(false);
  const waiting = useMemo(() => all?.filter((one) => one.status === "pending") ?? [], [all]);
  const { card, isUnknown } = useApproval(id);
  const shown = id === null ? waiting[0] : card;
  const step = (by: number) => {
    const at = waiting.findIndex((one) => one.approval_id === shown?.approval_id);
    const next = waiting[Math.min(Math.max(at + by, 0), waiting.length - 1)];
    if (next) select(next.approval_id);
  };
  useKeys({ j: () => step(1), k: () => step(-1), d: waiting.length > 1 ? () => setDecidesSeveral(true) : undefined, "?": () => setAsksForKeys(true) });
  useEffect(() => {
    if (id === null && shown) select(shown.approval_id);
  });

  return (
    <div className="grid h-full min-h-0 max-md:grid-rows-[auto_minmax(0,1fr)] md:grid-cols-[20rem_minmax(0,1fr)]">
      <WaitingList waiting={waiting} shown={shown?.approval_id} onSelect={select} onSeveral={() => setDecidesSeveral(true)} />
      <main className="flex min-h-0 min-w-0 flex-col">
        {shown ? (
          <Card key={shown.approval_id} card={shown} onNext={() => select(waiting.find((one) => one.approval_id !== shown.approval_id)?.approval_id)} />
        ) : isUnknown ? (
          <Empty icon={<FileQuestion size={20} />} title="There is no such question here">
            <p>It may belong to another project.</p>
            <Button className="mt-4" onClick={() => select(undefined)}>
              Show what waits
            </Button>
          </Empty>
        ) : (
          !isPending &&
          id === null && (
            <Empty icon={all ? <Check size={20} /> : <Inbox size={20} />} title="Nothing waits for you">
              When an agent wants something that needs your word, it appears here at once. You can leave this page open.
            </Empty>
          )
        )}
      </main>
      <SeveralDialog all={all ?? []} open={decidesSeveral} onClose={() => setDecidesSeveral(false)} />
      <KeysDialog open={asksForKeys} onClose={() => setAsksForKeys(false)} />
    </div>
  );
}
