import { TriangleAlert } from "lucide-react";
import { useEffect, useId, useState } from "react";

import { GRANT_SECONDS, GRANT_USES, LASTING_CHOICES, LASTING_SECONDS, type OfferView } from "../api/types";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { visible } from "../words/visible";
import { Choice } from "./choice";

/** How many further calls a grant covers, and for how long. */
export interface Limits {
  uses?: number;
  expires_in_seconds?: number;
}

interface Props {
  offer: OfferView | undefined;
  ended: string | null;
  onClose: () => void;
  onApprove: (limits: Limits) => void;
}

/** The class of a call: in its session, or lasting in the project. */
export function ClassDialog({ offer, ended, onClose, onApprove, lasting = false }: Props & { lasting?: boolean }) {
  const [limits, setLimits] = useState<Limits>(lasting ? { expires_in_seconds: LASTING_SECONDS } : {});
  return (
    <Dialog open={offer !== undefined} onClose={onClose} title={lasting ? "Always approve calls like this in this project?" : "Approve this call and others like it"}>
      <p className="mt-3 rounded-md border border-line bg-bg p-3 [overflow-wrap:anywhere]">{visible(offer?.words ?? "")}</p>
      {offer?.past && <p className="mt-2 text-soft">So far: {visible(offer.past)}.</p>}
      <LimitFields limits={limits} onChange={setLimits} times={lasting ? LASTING_CHOICES : GRANT_SECONDS} />
      {lasting && (
        <p className="mt-3 text-soft">
          Calls of other agents, critical calls, and sessions that read suspicious text still ask you.
        </p>
      )}
      <p className="mt-3 text-soft">The grant is listed under Grants. You can revoke it there at any time.</p>
      <Choice ended={ended} onClose={onClose}>
        <Button look="primary" onClick={() => onApprove(limits)}>
          {lasting ? "Always approve" : "Approve the class"}
        </Button>
      </Choice>
    </Dialog>
  );
}

export function SessionDialog({ offer, ended, onClose, onApprove }: Props) {
  const [limits, setLimits] = useState<Limits>({ expires_in_seconds: 3600 });
  const [understood, setUnderstood] = useState(false);
  // Asked again each time the dialog opens.
  useEffect(() => setUnderstood(false), [offer]);
  return (
    <Dialog open={offer !== undefined} onClose={onClose} title="Approve everything in this session?">
      <p className="mt-3 flex gap-2 rounded-md border border-critical/40 bg-del p-3">
        <TriangleAlert size={16} className="mt-0.5 shrink-0 text-critical" aria-hidden />
        {visible(offer?.warning ?? "")}
      </p>
      <LimitFields limits={limits} onChange={setLimits} times={GRANT_SECONDS} />
      <label className="mt-4 flex gap-2">
        <input type="checkbox" checked={understood} onChange={(event) => setUnderstood(event.target.checked)} />
        I want this agent to continue without asking me in this session.
      </label>
      <Choice ended={ended} onClose={onClose}>
        <Button look="danger-solid" disabled={!understood} onClick={() => onApprove(limits)}>
          Approve everything
        </Button>
      </Choice>
    </Dialog>
  );
}

type Choices = typeof GRANT_SECONDS;

function LimitFields({ limits, onChange, times }: { limits: Limits; onChange: (limits: Limits) => void; times: Choices }) {
  const change = (name: keyof Limits, value: string) => {
    const { [name]: _, ...rest } = limits;
    onChange(value ? { ...rest, [name]: Number(value) } : rest);
  };
  return (
    <div className="mt-3 grid gap-3 sm:grid-cols-2">
      <Select label="For" value={String(limits.uses ?? "")} options={GRANT_USES} onChange={(value) => change("uses", value)} />
      <Select label="At most for" value={String(limits.expires_in_seconds ?? "")} options={times} onChange={(value) => change("expires_in_seconds", value)} />
    </div>
  );
}

function Select({ label, value, options, onChange }: { label: string; value: string; options: Choices; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="text-soft">
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)} className="mt-1 block w-full rounded-md border border-line bg-bg p-1.5">
        {options.map(([option, words]) => (
          <option key={words} value={option ?? ""}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}
