import type { LayerView, RuleView } from "../api/types";
import { Code } from "../ui/code";
import { Risk } from "../ui/risk";
import { Tag } from "../ui/tag";
import { visible } from "../words/visible";

const LAYERS = {
  shipped: { title: "Shipped with Handrail", means: "The rules that the other files build on." },
  operator: { title: "The operator’s file", means: "Added or changed by the operator of this server." },
  project: { title: "The project’s file", means: "Can only make the rules above stricter." },
};

export function Layer({ layer, rules, narrowed, alone }: { layer: LayerView; rules: RuleView[]; narrowed: boolean; alone: boolean }) {
  const { title, means } = LAYERS[layer.layer];
  const set = settings(layer);
  return (
    <section aria-label={title} className="overflow-hidden rounded-lg border border-line bg-panel">
      <header className="border-b border-line px-4 py-3">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h3 className="font-medium">{title}</h3>
          {(layer.layer !== "project" || !alone) && layer.layer !== "shipped" && <Code className="text-soft">{layer.source}</Code>}
        </div>
        <p className="text-xs text-soft">{means}</p>
        {set.length > 0 && (
          <div className="mt-2 flex flex-wrap gap-1.5">
            {set.map((one) => (
              <Tag key={one}>{visible(one)}</Tag>
            ))}
          </div>
        )}
        {layer.notes.length > 0 && (
          <ul className="mt-2 space-y-0.5 text-xs text-soft">
            {layer.notes.map((note) => (
              <li key={note} className="[overflow-wrap:anywhere]">
                {visible(note)}
              </li>
            ))}
          </ul>
        )}
      </header>
      {rules.length > 0 ? <Table rules={rules} /> : <p className="px-4 py-3 text-soft">{narrowed && layer.rules.length > 0 ? "No rule matches." : "No rules."}</p>}
    </section>
  );
}

function Table({ rules }: { rules: RuleView[] }) {
  return (
    <table className="w-full text-left max-sm:block">
      <thead className="max-sm:sr-only">
        <tr className="text-xs text-soft [&>th]:px-4 [&>th]:pt-2 [&>th]:font-normal">
          <th className="w-28">Risk</th>
          <th className="w-24">Kind</th>
          <th>Rule</th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line max-sm:block">
        {rules.map((rule, index) => (
          <tr key={index} className={`align-top max-sm:flex max-sm:flex-wrap max-sm:gap-x-3 max-sm:px-4 max-sm:py-2 sm:[&>td]:px-4 sm:[&>td]:py-2 ${rule.note ? "text-soft" : ""}`}>
            <td>
              <Risk level={rule.risk_level} />
            </td>
            <td className="text-xs leading-6 text-soft">{visible(rule.kind)}</td>
            <td className="min-w-0 max-sm:w-full">
              <Code>{rule.name}</Code>
              <span className="block text-soft [overflow-wrap:anywhere]">{visible(rule.reason)}</span>
              {rule.note && <span className="block text-xs text-medium">{visible(rule.note)}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function settings(layer: LayerView): string[] {
  return [
    ...(layer.autonomy ? [`autonomy: at most ${layer.autonomy}`] : []),
    ...(layer.unlisted ? [`unlisted commands: ${layer.unlisted}`] : []),
  ];
}
