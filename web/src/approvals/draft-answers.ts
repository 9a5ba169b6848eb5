import { usePropose } from "../api/propose";
import type { ApprovalView } from "../api/types";
import { useAnswer } from "./answer";

/** What a person does with steps of a draft. */
export type StepAct = "apply" | "discard";

/** Answers to the card of a draft about some of its steps: the card is refused with the reason, and the draft goes on. */
export function useDraftAnswers(): Record<StepAct, (card: ApprovalView, step: number) => Promise<string | null>> {
  const propose = usePropose();
  const { reject } = useAnswer();
  return {
    apply: async (card, step) => {
      const proposed = await propose("apply_draft", { steps: step }, card.session_id);
      await reject(card, `The person decides about the steps up to step ${step} on a card of their own. The later steps stay in the draft.`);
      return proposed.card;
    },
    discard: async (card, step) => {
      await propose("discard_draft", { step }, card.session_id);
      await reject(card, `The person discarded step ${step} and all later ones. Earlier steps stay in the draft; nothing was applied.`);
      return null;
    },
  };
}
