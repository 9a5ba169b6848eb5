import { Fragment, useEffect, useRef, useState } from "react";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Risk } from "../ui/risk";
import { isCut } from "../words/evidence";
import { visible } from "../words/visible";
import { useAnswer, wordsOf } from "./answer";
import { sentence } from "./answered";
import { Why } from "./card";
import { Evidence } from "./evidence";
import { SecondStep } from "./second-step";

/** More cards than this are not read with care; a longer card is decided by itself. */
const MOST = 20;
const MOST_LINES = 300;
const MOST_CHARS = 10_000;

/** Whether the whole card can be shown among others, with nothing left out by the server. */
function fits(card: ApprovalView): boolean {
  // The line ends of a parameter count as lines, as they are drawn.
  const text = card.evidence || JSON.stringify(card.tool_params, null, 2).replaceAll("\\n", "\n");
  const isShort = text.length <= MOST_CHARS && text.split("\n").length <= MOST_LINES;
  return card.status === "pending" && card.masked === 0 && isShort && !isCut(card.evidence);
}

interface Props {
  /** The open requests, most urgent first, and those decided meanwhile. */
  all: ApprovalView[];
  open: boolean;
  onClose: () => void;
}

/** Decides several together: those that were open when the dialog opened, each shown in full. */
export function SeveralDialog({ all, open, onClose }: Props) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title="Decide several together"
      description="Each request is shown in full. Scroll to the end to enable the buttons. New requests are not included."
    >
      {open && <Several all={all} onClose={onClose} />}
    </Dialog>
  );
}

function Several({ all, onClose }: Omit<Props, "open">) {
  const [ids] = useState(() => all.filter(fits).slice(0, MOST).map((one) => one.approval_id));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const cards = ids.flatMap((id) => all.find((one) => one.approval_id === id) ?? []);
  const chosen = cards.filter((one) => one.status === "pending" && !left.has(one.approval_id));
  const others = all.filter((one) => one.status === "pending" && !ids.includes(one.approval_id)).length;
  const [end, atEnd] = useWasReached();
  const toggle = (id: string) =>
    setLeft((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  return (
    <>
      <div className="relative mt-4 min-h-0 flex-1 space-y-4 overflow-auto pr-1" tabIndex={0} role="region" aria-label="All requests">
        {cards.map((card) => (
          <Part key={card.approval_id} card={card} isChosen={!left.has(card.approval_id)} onToggle={() => toggle(card.approval_id)} />
        ))}
        {others > 0 && <p className="text-soft">{others === 1 ? "1 more request has" : `${others} more requests have`} to be decided one at a time: too long, partly masked, or too many for one list.</p>}
        <div ref={end} aria-hidden className="h-px" />
      </div>
      <Decision chosen={chosen} ready={atEnd} onClose={onClose} />
    </>
  );
}

function Part({ card, isChosen, onToggle }: { card: ApprovalView; isChosen: boolean; onToggle: () => void }) {
  const { name } = useSession();
  const waits = card.status === "pending";
  return (
    <article className={`rounded-lg border border-line p-4 ${isChosen && waits ? "" : "opacity-60"}`}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <label className="flex items-center gap-2 font-medium [overflow-wrap:anywhere]">
          <input type="checkbox" checked={isChosen && waits} disabled={!waits} onChange={onToggle} className="size-4 accent-accent" />
          <span className="as-code overflow-clip whitespace-pre-wrap">{visible(card.description)}</span>
        </label>
        <Risk level={card.risk_level} />
      </div>
      {waits ? <Why card={card} /> : <p className="mt-2">{sentence(card, name)}</p>}
      <div className="mt-3">
        <Evidence card={card} whole />
      </div>
    </article>
  );
}

function Decision({ chosen, ready, onClose }: { chosen: ApprovalView[]; ready: boolean; onClose: () => void }) {
  const answer = useAnswer();
  const [busy, setBusy] = useState(false);
  // The cards that the second step is about. Another choice asks again.
  const [asked, setAsked] = useState("");
  // After Back, the focus returns to the button that led to the second step.
  const hasGoneBack = useRef(false);
  const [trouble, setTrouble] = useState<string[]>([]);
  const risky = chosen.filter((one) => one.needs_second_step).length;
  const these = chosen.map((one) => one.approval_id).join();
  const tell = async (say: (card: ApprovalView) => Promise<void>) => {
    setBusy(true);
    setTrouble([]);
    const told = await Promise.allSettled(chosen.map(say));
    setBusy(false);
    setAsked("");
    const troubles = told.flatMap((one, at) => (one.status === "rejected" ? `${chosen[at]!.description}: ${wordsOf(one.reason)}` : []));
    setTrouble(troubles);
    if (troubles.length === 0) onClose();
  };
  const approve = () => void tell((card) => answer.approve(card));
  const awake = ready && !busy && chosen.length > 0;
  return (
    <div className="mt-4 border-t border-line pt-4">
      {trouble.map((words) => (
        <p key={words} role="alert" className="mb-2 text-critical [overflow-wrap:anywhere]">
          {visible(words)}
        </p>
      ))}
      <div className="flex flex-wrap items-center gap-2">
        {asked !== "" && asked === these ? (
          <SecondStep
            key="second"
            words={`${risky} of these ${risky === 1 ? "is" : "are"} high or critical risk. Approve all ${chosen.length}?`}
            yes={`Yes, approve all ${chosen.length}`}
            ready={awake}
            onYes={approve}
            onNo={() => {
              hasGoneBack.current = true;
              setAsked("");
            }}
          />
        ) : (
          <Fragment key="first">
            <Button look="primary" autoFocus={hasGoneBack.current} disabled={!awake} onClick={risky ? () => setAsked(these) : approve}>
              Approve {chosen.length}, once each
            </Button>
            <Button look="quiet" onClick={onClose}>
              Close
            </Button>
            <Button look="danger" className="ml-auto" disabled={!awake} onClick={() => void tell((card) => answer.reject(card, ""))}>
              Refuse {chosen.length}
            </Button>
          </Fragment>
        )}
      </div>
    </div>
  );
}

/** Whether an element has been on screen. */
function useWasReached() {
  const place = useRef<HTMLDivElement>(null);
  const [reached, setReached] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) setReached(true);
    });
    if (place.current) watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);
  return [place, reached] as const;
}
