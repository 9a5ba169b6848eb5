import { useEffect, useState } from "react";

import { useLine } from "../api/stream";
import type { ApprovalView } from "../api/types";
import { isOffline, useAnswer, wordsOf } from "./answer";
import { useDraftAnswers, type StepAct } from "./draft-answers";
import type { Limits } from "./grant-dialogs";

/** Answering one card: one answer at a time, and what went wrong with it. */
export function useDecision(card: ApprovalView, onNext: (approvalId?: string) => void) {
  const answer = useAnswer();
  const draft = useDraftAnswers();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const line = useLine();
  useEffect(() => {
    if (line === "live") setError((before: unknown) => (isOffline(before) ? null : before));
  }, [line]);
  const tell = async (answered: Promise<string | null | void>) => {
    setBusy(true);
    setError(null);
    try {
      onNext((await answered) ?? undefined);
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return {
    busy,
    trouble: error === null ? null : wordsOf(error),
    approve: (scope: string, limits: Limits = {}) => tell(answer.approve(card, scope, limits)),
    reject: (reason: string) => tell(answer.reject(card, reason)),
    stop: () => tell(answer.stop(card)),
    decideSteps: (act: StepAct, step: number) => tell(draft[act](card, step)),
  };
}
