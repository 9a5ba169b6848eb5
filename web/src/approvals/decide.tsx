import { Check, CircleStop, Pencil, X } from "lucide-react";
import { Fragment, useEffect, useMemo, useRef, useState, type RefObject } from "react";
import { createPortal } from "react-dom";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { go } from "../router";
import { Button } from "../ui/button";
import { useKeys } from "../ui/keys";
import { stepsOf } from "../words/evidence";
import { visible } from "../words/visible";
import { Answered, sentence } from "./answered";
import { useDecision } from "./decision";
import type { StepAct } from "./draft-answers";
import { addressOfDraft, DraftMenu } from "./draft-menu";
import { EditDialog } from "./edit-dialog";
import { ClassDialog, SessionDialog } from "./grant-dialogs";
import { MoreMenu, type Wider } from "./more-menu";
import { RejectDialog } from "./reject-dialog";
import { SecondStep } from "./second-step";
import { useIsSeen } from "./seen";
import { StepsDialog } from "./steps-dialog";
import { StopDialog } from "./stop-dialog";

const TOO_EARLY = "Too early: the card has to be in view for a moment first. Press the key again.";
const NO_APPROVAL = "This cannot be approved before its full text is shown.";
const NOT_LASTING = "This cannot be approved for the whole project.";
const NO_EDIT = "This call cannot be changed. Refuse it and say what it should do instead.";
const NO_CLASS = "No class can be offered for this call.";

type Asking = "second-step" | "edit" | "reject" | "stop" | StepAct | Wider | null;

interface Props {
  card: ApprovalView;
  /** To the card of that id, or to the next one. */
  onNext: (approvalId?: string) => void;
  /** Called when a dialog or the second step opens, and when it closes. */
  onAsking?: (isAsking: boolean) => void;
  /** False where several cards share a screen: a key would be ambiguous. */
  withKeys?: boolean;
  /** Must be in view for a decision. */
  evidence: RefObject<HTMLElement | null>;
  /** Must have been in view; it may have scrolled away since. */
  title?: RefObject<HTMLElement | null>;
  /** Where the button stands that changes the call; without it there is none. */
  editSlot?: HTMLElement | null;
}

/** Always in the same place. Keys and clicks count only after the card has been in view for a moment. */
export function DecisionBar({ card, onNext, onAsking, withKeys = true, evidence, title, editSlot }: Props) {
  const [asking, setAsking] = useState<Asking>(null);
  const { busy, trouble, approve, reject, stop, decideSteps } = useDecision(card, onNext);
  useEffect(() => onAsking?.(asking !== null), [asking]);
  const bar = useRef<HTMLElement>(null);
  const { seen, inSight } = useIsSeen(`${card.approval_id} ${card.digest}`, { bar, evidence, title });
  const ready = seen && !busy;
  const { name, role } = useSession();
  // The server accepts nothing wider from an approver.
  const offers = role === "approver" ? card.offers.filter((one) => one.scope === "once") : card.offers;
  const offer = (scope: string) => offers.find((one) => one.scope === scope);
  // A card with masked parts offers no yes at all.
  const mayApprove = ready && offer("once") !== undefined;
  // After Back, the focus returns to the button that led to the second step.
  const hasGoneBack = useRef(false);
  const approveOnce = () => (card.needs_second_step ? setAsking("second-step") : void approve("once"));
  const confirming = asking === "second-step";
  const key = (name: string) => (withKeys ? name : undefined);
  const waits = card.status === "pending";
  const isDraft = card.tool_name === "apply_draft";
  const steps = useMemo(() => (isDraft ? stepsOf(card.evidence) : []), [isDraft, card.evidence]);
  // An open dialog stays open when the card is decided elsewhere: keys typed into it must not reach the next card.
  const ended = waits || busy ? null : sentence(card, name);

  const awake = ready && withKeys && waits;
  const [hint, setHint] = useState("");
  const hasClass = offer("class") !== undefined;
  const mayLast = offer("project") !== undefined;
  const mayEdit = card.editable.length > 0 && role !== "approver" && waits;
  const opening = useMemo(() => {
    if (!withKeys || !waits || busy || confirming) return {};
    const early = () => setHint(TOO_EARLY);
    if (!awake) return { a: early, c: early, p: early, e: early, r: early };
    return {
      a: mayApprove ? undefined : () => setHint(NO_APPROVAL),
      c: () => (hasClass ? setAsking("class") : setHint(NO_CLASS)),
      p: () => (mayLast ? setAsking("project") : setHint(NOT_LASTING)),
      e: () => (mayEdit ? setAsking("edit") : setHint(NO_EDIT)),
      r: () => setAsking("reject"),
    };
  }, [withKeys, waits, busy, awake, mayApprove, hasClass, mayLast, mayEdit, confirming, card.approval_id]);
  useEffect(() => setHint(""), [awake, asking]);
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
  if (ended && (asking === null || confirming)) return <Answered card={card} withKeys={withKeys} onNext={onNext} onStop={() => setAsking("stop")} />;
  return (
    <footer ref={bar} className="shrink-0 border-t border-line bg-panel px-4 py-3 md:px-6">
      {(!inSight || hint) && (
        <p role="status" className="mb-2">
          {inSight ? hint : "Scroll until you see what it would do. Then you can decide."}
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
          // Keyed apart from the second step, so that none of its buttons turns into one of these.
          <Fragment key="first">
            <Button look="primary" autoFocus={hasGoneBack.current} hotkey={key("a")} icon={<Check size={15} aria-hidden />} disabled={!mayApprove} onClick={approveOnce}>
              {isDraft ? "Approve all" : "Approve once"}
            </Button>
            {isDraft ? (
              role === "user" && <DraftMenu steps={steps.length} disabled={!ready || steps.length === 0} onChoose={setAsking} onFiles={() => go(addressOfDraft(card.session_id))} />
            ) : (
              <MoreMenu offers={offers} disabled={!mayApprove} onChoose={setAsking} />
            )}
            <Button look="quiet" icon={<CircleStop size={15} aria-hidden />} disabled={!ready} onClick={() => setAsking("stop")}>
              Stop the run…
            </Button>
            <Button look="danger" hotkey={key("r")} className="ml-auto" icon={<X size={15} aria-hidden />} disabled={!ready} onClick={() => setAsking("reject")}>
              {isDraft ? "Ask for changes…" : "Refuse…"}
            </Button>
          </Fragment>
        )}
      </div>
      {mayEdit &&
        editSlot &&
        createPortal(
          <Button look="quiet" hotkey={key("e")} icon={<Pencil size={15} aria-hidden />} disabled={!ready} onClick={() => setAsking("edit")}>
            Edit…
          </Button>,
          editSlot,
        )}
      <EditDialog open={asking === "edit"} card={card} ended={ended} onClose={close} />
      <RejectDialog open={asking === "reject"} isDraft={isDraft} ended={ended} onClose={close} onReject={(reason) => void reject(reason).then(close)} />
      <StepsDialog act={asking === "apply" || asking === "discard" ? asking : null} steps={steps} ended={ended} busy={busy} onClose={close} onChoose={(act, step) => void decideSteps(act, step).then(close)} />
      <StopDialog open={asking === "stop"} session={card.session_id} onClose={close} onStop={() => void stop().then(close)} />
      <ClassDialog
        offer={asking === "class" ? offer("class") : undefined}
        ended={ended}
        onClose={close}
        onApprove={(limits) => void approve("class", limits).then(close)}
      />
      <ClassDialog
        lasting
        offer={asking === "project" ? offer("project") : undefined}
        ended={ended}
        onClose={close}
        onApprove={(limits) => void approve("project", limits).then(close)}
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
    ? `Approve this ${card.risk_level.toLowerCase()}-risk call?`
    : "Not checked on the machine. Approve anyway?";
}
