import { ScrollText } from "lucide-react";
import { useState } from "react";

import type { AnalyticsResponse, AskedView } from "../api/types";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { Risk } from "../ui/risk";
import { count } from "../words/number";
import { visible } from "../words/visible";
import { Swatch } from "./inks";
import { OUTCOMES } from "./outcomes";
import { Panel } from "./panel";
import { RuleDialog } from "./rule-dialog";
import { wayOut } from "./way-out";

const ANSWERS = OUTCOMES.filter((one): one is typeof one & { key: Answered } => ["approved", "refused", "expired"].includes(one.key));
type Answered = "approved" | "refused" | "expired";

/** What people were asked about most, and how to be asked less. */
export function Asked({ numbers }: { numbers: AnalyticsResponse }) {
  const { asked } = numbers;
  const [chosen, setChosen] = useState<AskedView>();
  const most = Math.max(...asked.map((one) => one.asked), 1);
  return (
    <Panel
      title="Asked most"
      about={asked.length ? "What you were asked about, by kind of call." : "You were not asked anything in this period."}
      className="xl:col-span-2"
    >
      {asked.length > 0 && (
        <ul className="mb-1 flex flex-wrap gap-x-4 gap-y-1 text-xs text-soft" aria-hidden>
          {ANSWERS.map((one) => (
            <li key={one.key} className="flex items-center gap-1.5">
              <Swatch ink={one} /> {one.words}
            </li>
          ))}
        </ul>
      )}
      <ul className="divide-y divide-line">
        {asked.map((one) => (
          <li key={`${one.class_words} ${one.tool_name}`} className="grid items-center gap-x-4 gap-y-2 py-3 sm:grid-cols-[minmax(0,1fr)_auto]">
            <div className="min-w-0">
              <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
                <span className="font-medium [overflow-wrap:anywhere]">{one.class_words === null ? "Other calls" : visible(one.class_words)}</span>
                <span className="text-xs text-soft">
                  with <Code>{one.tool_name}</Code>
                </span>
                {one.risk_level && <Risk level={one.risk_level} />}
              </p>
              <Answers one={one} most={most} />
              <p className="mt-1 text-xs text-soft">{summary(one)}</p>
            </div>
            {wayOut(one) && (
              <Button className="justify-self-start text-xs" icon={<ScrollText size={13} aria-hidden />} onClick={() => setChosen(one)}>
                {wayOut(one)?.button}
                <span className="sr-only">: {visible(one.class_words ?? one.tool_name)}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      <RuleDialog asked={chosen} onClose={() => setChosen(undefined)} />
    </Panel>
  );
}

function Answers({ one, most }: { one: AskedView; most: number }) {
  return (
    <div aria-hidden className="mt-2 flex h-2 overflow-hidden rounded-full bg-raised">
      {ANSWERS.map(({ key, token }) => (
        <div key={key} style={{ width: `${(100 * one[key]) / most}%`, background: `var(${token})` }} />
      ))}
    </div>
  );
}

/** `41 times: 2 approved, 39 refused`. */
export function summary(one: AskedView): string {
  const withdrawn = one.asked - one.approved - one.refused - one.expired;
  const parts = [...ANSWERS.map(({ key }) => [one[key], key] as const), [withdrawn, "withdrawn"] as const];
  const told = parts.filter(([number]) => number > 0).map(([number, words]) => `${count(number)} ${words}`);
  return `asked ${one.asked === 1 ? "once" : `${count(one.asked)} times`}: ${told.join(", ")}`;
}
