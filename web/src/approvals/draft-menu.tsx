import { ChevronDown } from "lucide-react";

import { Button } from "../ui/button";
import { ITEM, Menu } from "../ui/menu";
import type { StepAct } from "./draft-answers";

const ITEMS: Record<StepAct, { title: string; about: string }> = {
  apply: { title: "Apply up to a step…", about: "You get a card with the first steps only. The later ones stay in the draft." },
  discard: { title: "Discard from a step…", about: "Removes that step and all later ones from the draft. The workspace stays as it is." },
};

/** What can be done with a part of a draft. A single step has no part that could be applied. */
export function DraftMenu({ steps, disabled, side = "above", onChoose }: { steps: number; disabled: boolean; side?: "above" | "below"; onChoose: (act: StepAct) => void }) {
  const acts: StepAct[] = steps > 1 ? ["apply", "discard"] : ["discard"];
  return (
    <Menu
      side={side}
      className="w-80"
      trigger={(button) => (
        <Button {...button} disabled={disabled}>
          Steps
          <ChevronDown size={14} aria-hidden />
        </Button>
      )}
    >
      {acts.map((act) => (
        <button key={act} type="button" role="menuitem" onClick={() => onChoose(act)} className={`block ${ITEM}`}>
          <span className={`block font-medium ${act === "discard" ? "text-critical" : ""}`}>{ITEMS[act].title}</span>
          <span className="block text-xs text-soft">{ITEMS[act].about}</span>
        </button>
      ))}
    </Menu>
  );
}
