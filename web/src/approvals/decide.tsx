import { Check, CircleStop, X } from "lucide-react";
import { Fragment, useEffect, useMemo, useRef, useState, type RefObject } from "react";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { Button } from "../ui/button";
import { useKeys } from "../ui/keys";
import { visible } from "../words/visible";
import { Answered, sentence } from "./answered";
import { useDecision } from "./decision";
import { ClassDialog, SessionDialog } from "./grant-dialogs";
import { MoreMenu, type Wider } from "./more-menu";
import { RejectDialog } from "./reject-dialog";
import { SecondStep } from "./second-step";
import { useIsSeen } from "./seen";
import { StopDialog } from "./stop-dialog";

type Asking = "second-step" | "reject" | "stop" | Wider | null;

interface Props {
  card: ApprovalView;
  onNext: () => void;
  /** Told when more is asked about the answer, and when that is over. */
  onAsking?: (isAsking: boolean) => void;
  /** Without them where several cards are on one screen: a key must mean one of them. */
  withKeys?: boolean;
  /** What has to be in sight for a decision. */
  evidence: RefObject<HTMLElement | null>;
  /** What has to have been in sight, where it may be far above. */
  title?: RefObject<HTMLElement | null>;
}

/** Always in the same place. Nothing decides that was pressed before the card could be read. */
export function DecisionBar({ card, onNext, onAsking, withKeys = true, evidence, title }: Props) {
  const [asking, setAsking] = useState<Asking>(null);
  const { busy, trouble, approve, reject, stop } = useDecision(card, onNext);
  useEffect(() => onAsking?.(asking !== null), [asking]);
  const bar = useRef<HTMLElement>(null);
  const { seen, inSight } = useIsSeen(`${card.approval_id} ${card.digest}`, { bar, evidence, title });
  const ready = seen && !busy;
  const offer = (scope: string) => card.offers.find((one) => one.scope === scope);
  // A card with masked parts offers no yes at all.
  const mayApprove = ready && offer("once") !== undefined;
  // Whoever goes back from the second step stands where they came from.
  const hasGoneBack = useRef(false);
  const approveOnce = () => (card.needs_second_step ? setAsking("second-step") : void approve("once"));
  const confirming = asking === "second-step";
  const key = (name: string) => (withKeys ? name : undefined);
  const { name } = useSession();
  const waits = card.status === "pending";
  // What was begun about it stays: the rest of a sentence must not fall on whatever comes next.
  const ended = waits || busy ? null : sentence(card, name);

  const awake = ready && withKeys && waits;
  const opening = useMemo(
    () =>
      !awake || confirming
        ? {}
        : {
            c: offer("class") ? () => setAsking("class") : undefined,
            r: () => setAsking("reject"),
          },
    [awake, confirming, card.approval_id],
  );
  const deciding = useMemo(
    () => (!awake || !mayApprove ? {} : confirming ? { y: () => void approve("once") } : { a: approveOnce }),
    [awake, mayApprove, confirming, card.approval_id, card.digest],
  );
  useKeys(opening, "apart");
  useKeys(deciding, "alone");
  useKeys(confirming && withKeys ? { Escape: () => close() } : {});

  const close = () => {
    hasGoneBack.current = confirming;
    setAsking(null);
  };
  if (ended && (asking === null || confirming)) return <Answered card={card} onNext={onNext} onStop={() => setAsking("stop")} />;
  return (
    <footer ref={bar} className="shrink-0 border-t border-line bg-panel px-4 py-3 md:px-6">
      {!inSight && (
        <p role="status" className="mb-2">
          Scroll to what it would do; then you can decide.
        </p>
      )}
      {trouble && (
        <p role="alert" className="mb-2 text-critical">
          {visible(trouble)}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        {confirming ? (
          <SecondStep key="second" words={secondWords(card)} yes="Yes, approve" ready={mayApprove} withKeys={withKeys} onYes={() => void approve("once")} onNo={close} />
        ) : (
          // Apart from the second step, so that no button of it turns into one of these.
          <Fragment key="first">
            <Button look="primary" autoFocus={hasGoneBack.current} hotkey={key("a")} icon={<Check size={15} aria-hidden />} disabled={!mayApprove} onClick={approveOnce}>
              Approve once
            </Button>
            <MoreMenu offers={card.offers} disabled={!mayApprove} onChoose={setAsking} />
            <Button look="quiet" icon={<CircleStop size={15} aria-hidden />} disabled={!ready} onClick={() => setAsking("stop")}>
              Stop the run…
            </Button>
            <Button look="danger" hotkey={key("r")} className="ml-auto" icon={<X size={15} aria-hidden />} disabled={!ready} onClick={() => setAsking("reject")}>
              Refuse…
            </Button>
          </Fragment>
        )}
      </div>
      <RejectDialog open={asking === "reject"} ended={ended} onClose={close} onReject={(reason) => void reject(reason).then(close)} />
      <StopDialog open={asking === "stop"} session={card.session_id} onClose={close} onStop={() => void stop().then(close)} />
      <ClassDialog
        offer={asking === "class" ? offer("class") : undefined}
        ended={ended}
        onClose={close}
        onApprove={(limits) => void approve("class", limits).then(close)}
      />
      <SessionDialog
        offer={asking === "session" ? offer("session") : undefined}
        ended={ended}
        onClose={close}
        onApprove={(limits) => void approve("session", limits).then(close)}
      />
    </footer>
  );
}

function secondWords(card: ApprovalView): string {
  return card.risk_level === "HIGH" || card.risk_level === "CRITICAL"
    ? `This is ${card.risk_level.toLowerCase()}. Approve it for real?`
    : "No machine has looked at this. Approve the words alone?";
}
