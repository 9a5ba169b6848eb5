import { useState } from "react";

import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { visible } from "../words/visible";
import { Choice } from "./choice";
import type { StepAct } from "./draft-answers";

/** As much of a step as is needed to choose it. */
export interface Choosable {
  number: number;
  title: string;
  /** ` (exit code 1)` where a command failed. */
  ending: string;
}

const WORDS = {
  apply: {
    title: "Apply up to a step",
    about: "You get a new card with these steps alone, and nothing is applied before you approve it. The agent is told, and the later steps stay in the draft.",
    legend: "Last step to apply",
    button: "Show the card",
    inside: "on the card",
    outside: "stays",
  },
  discard: {
    title: "Discard from a step",
    about: "The step and all later ones are removed from the draft, as if these calls had not been made. The agent is told. The workspace is not changed.",
    legend: "First step to discard",
    button: "Discard",
    inside: "removed",
    outside: "stays",
  },
} as const;

interface Props {
  act: StepAct | null;
  steps: readonly Choosable[];
  /** How the card was decided while this dialog was open. */
  ended?: string | null;
  busy: boolean;
  onClose: () => void;
  onChoose: (act: StepAct, step: number) => void;
}

/** Chooses a step, and shows what becomes of each of them. */
export function StepsDialog({ act, ...rest }: Props) {
  return act && <Steps key={act} act={act} {...rest} />;
}

function Steps({ act, steps, ended = null, busy, onClose, onChoose }: Props & { act: StepAct }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const words = WORDS[act];
  // All steps are what the card itself applies.
  const choices = act === "apply" ? steps.slice(0, -1) : steps;
  const isInside = (step: number) => chosen !== null && (act === "apply" ? step <= chosen : step >= chosen);
  return (
    <Dialog open onClose={onClose} title={words.title} description={words.about}>
      <form
        className="flex min-h-0 flex-col"
        onSubmit={(event) => {
          event.preventDefault();
          if (!ended && chosen !== null) onChoose(act, chosen);
        }}
      >
        <fieldset className="mt-4 min-h-0 overflow-y-auto">
          <legend className="text-soft">{words.legend}</legend>
          {steps.map((step) => (
            <label key={step.number} className="mt-1 flex cursor-pointer items-baseline gap-2 rounded-md px-2 py-1 hover:bg-raised has-focus-visible:outline-2 has-focus-visible:outline-accent has-disabled:cursor-default">
              <input type="radio" name="step" className="accent-(--accent)" disabled={!choices.includes(step)} checked={chosen === step.number} onChange={() => setChosen(step.number)} />
              <span className="as-code min-w-0 flex-1 [overflow-wrap:anywhere]">
                <span className="text-soft tabular-nums">{step.number}</span> {visible(step.title)}
                <span className="text-critical">{step.ending}</span>
              </span>
              {chosen !== null && <span className={`shrink-0 text-xs ${isInside(step.number) ? (act === "apply" ? "text-low" : "text-critical") : "text-soft"}`}>{isInside(step.number) ? words.inside : words.outside}</span>}
            </label>
          ))}
        </fieldset>
        <Choice ended={ended} onClose={onClose}>
          <Button look={act === "apply" ? "primary" : "danger-solid"} type="submit" disabled={chosen === null || busy}>
            {words.button}
          </Button>
        </Choice>
      </form>
    </Dialog>
  );
}
