import { ChevronDown } from "lucide-react";

import { Button } from "../ui/button";
import { ITEM, Menu } from "../ui/menu";
import type { StepAct } from "./draft-answers";

const ITEMS: Record<StepAct, { title: string; about: string }> = {
  apply: { title: "Apply up to a step…", about: "You get a card with the first steps only. The later ones stay in the draft." },
  discard: { title: "Discard from a step…", about: "Removes that step and all later ones from the draft. The workspace stays as it is." },
};

export function addressOfDraft(session: string): string {
  return `/drafts/${encodeURIComponent(session)}`;
}

interface Props {
  steps: number;
  disabled: boolean;
  side?: "above" | "below";
  onChoose: (act: StepAct) => void;
  onFiles: () => void;
}

/** What can be done with a part of a draft. A single step has no earlier ones that could be applied. */
export function DraftMenu({ steps, disabled, side = "above", onChoose, onFiles }: Props) {
  const acts: StepAct[] = steps > 1 ? ["apply", "discard"] : ["discard"];
  return (
    <Menu
      side={side}
      className="w-80"
      trigger={(button) => (
        <Button {...button} disabled={disabled}>
          A part
          <ChevronDown size={14} aria-hidden />
        </Button>
      )}
    >
      {acts.map((act) => (
        <Item key={act} {...ITEMS[act]} bad={act === "discard"} onClick={() => onChoose(act)} />
      ))}
      <Item title="Apply chosen files…" about="You get a card with these files only. All other changes, and commits, stay in the draft." onClick={onFiles} />
    </Menu>
  );
}

function Item({ title, about, bad = false, onClick }: { title: string; about: string; bad?: boolean; onClick: () => void }) {
  return (
    <button type="button" role="menuitem" onClick={onClick} className={`block ${ITEM}`}>
      <span className={`block font-medium ${bad ? "text-critical" : ""}`}>{title}</span>
      <span className="block text-xs text-soft">{about}</span>
    </button>
  );
}
