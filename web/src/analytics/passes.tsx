import type { AnalyticsResponse, PassView } from "../api/types";
import { Code } from "../ui/code";
import { percent } from "../words/number";
import { visible } from "../words/visible";
import { Bars } from "./bars";
import { allOf } from "./outcomes";
import { Panel } from "./panel";

const WHY: Record<PassView["by"], string> = {
  low_risk: "low risk",
  full_autonomy: "full autonomy",
  grant: "approved by you earlier",
};

/** Calls approved without asking, by reason. */
export function Passes({ numbers }: { numbers: AnalyticsResponse }) {
  const { passes, totals } = numbers;
  const share = percent(totals.auto_approved, allOf(totals));
  return (
    <Panel title="Auto-approved calls" about={totals.auto_approved ? `${share} of all calls were approved without asking.` : "No call was approved without asking."}>
      <Bars
        caption="Calls approved without asking, by reason"
        head="Reason"
        token="--soft"
        all={allOf(totals)}
        bars={passes.map((one) => ({
          key: `${one.by} ${one.tool_name} ${one.words}`,
          name: one.words === null ? <Code>{one.tool_name}</Code> : visible(one.words),
          about: one.words === null ? WHY[one.by] : `${WHY[one.by]}, with ${visible(one.tool_name)}`,
          calls: one.calls,
        }))}
      />
    </Panel>
  );
}
