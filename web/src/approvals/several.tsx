import { Fragment, useEffect, useRef, useState } from "react";

import { useSession } from "../api/session";
import type { ApprovalView } from "../api/types";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Risk } from "../ui/risk";
import { isCut } from "../words/diff";
import { visible } from "../words/visible";
import { useAnswer, wordsOf } from "./answer";
import { sentence } from "./answered";
import { Why } from "./card";
import { Evidence } from "./evidence";
import { SecondStep } from "./second-step";

/** More than this many nobody reads with care; what is longer than this is read alone. */
const MOST = 20;
const MOST_LINES = 300;
const MOST_CHARS = 10_000;

/** Whether all of it can be shown among others, and the server has left nothing out. */
function fits(card: ApprovalView): boolean {
  const text = card.evidence || JSON.stringify(card.tool_params, null, 2);
  const isShort = text.length <= MOST_CHARS && text.split("\n").length <= MOST_LINES;
  return card.status === "pending" && card.masked === 0 && isShort && !isCut(card.evidence);
}

interface Props {
  /** All that waits, most urgent first, and what was decided meanwhile. */
  all: ApprovalView[];
  open: boolean;
  onClose: () => void;
}

/** Several decided together: those that waited when it was opened, each shown whole, one below the other. */
export function SeveralDialog({ all, open, onClose }: Props) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title="Decide several together"
      description="Each is shown whole. The buttons wake when you have seen the last one; what comes meanwhile is not among them."
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
      <div className="relative mt-4 min-h-0 flex-1 space-y-4 overflow-auto pr-1" tabIndex={0} role="region" aria-label="All of them">
        {cards.map((card) => (
          <Part key={card.approval_id} card={card} isChosen={!left.has(card.approval_id)} onToggle={() => toggle(card.approval_id)} />
        ))}
        {others > 0 && <p className="text-soft">{others === 1 ? "One more waits" : `${others} more wait`} that you decide apart: too long for this, masked in part, or too many.</p>}
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
  // The ones that were asked about: when others are chosen, the second step is asked for anew.
  const [asked, setAsked] = useState("");
  // Whoever goes back from the second step stands where they came from.
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
            words={`${risky} of these ${risky === 1 ? "is" : "are"} high or critical. Approve for real?`}
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

/** Whether a place has been on the screen. */
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
