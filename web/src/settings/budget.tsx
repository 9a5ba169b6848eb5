import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { BudgetResponse } from "../api/types";
import { Answer } from "../ui/answer";
import { Part } from "./part";

/** Tokens used today, compared with the budget. */
export function BudgetPart() {
  const path = usePath();
  const budget = useQuery({ queryKey: ["budget", path("")], queryFn: () => ask<BudgetResponse>("GET", path("/budget")) });
  return (
    <Part title="Budget today" about="Tokens used by your agents, as counted by the providers. Days are in UTC.">
      <Answer to={budget}>{(told) => <Used budget={told} />}</Answer>
    </Part>
  );
}

function Used({ budget }: { budget: BudgetResponse }) {
  const share = Math.min(1, budget.share ?? 0);
  const [colour, words] = budget.exhausted
    ? ["bg-critical", "The budget is used up. Agents can continue tomorrow."]
    : budget.near
      ? ["bg-medium", "Most of the budget is used."]
      : ["bg-accent", ""];
  return (
    <div className="mt-3">
      <p className="tabular-nums">
        <span className="text-lg font-semibold">{budget.used_tokens.toLocaleString()}</span>{" "}
        <span className="text-soft">{budget.limit_tokens === null ? "tokens, no limit" : `of ${budget.limit_tokens.toLocaleString()} tokens`}</span>
      </p>
      {budget.limit_tokens !== null && (
        <div
          role="meter"
          aria-label="Budget used"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(share * 100)}
          className="mt-2 h-2 overflow-hidden rounded-full bg-raised"
        >
          <div className={`h-full ${colour}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
      {words && <p className="mt-2">{words}</p>}
      <p className="mt-2 text-xs text-soft tabular-nums">
        {budget.input_tokens.toLocaleString()} input, {budget.cached_tokens.toLocaleString()} of them cached · {budget.output_tokens.toLocaleString()} output
      </p>
    </div>
  );
}
