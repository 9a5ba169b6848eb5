import type { EffectiveView } from "../api/types";
import { Code } from "../ui/code";
import { Tag } from "../ui/tag";
import { AUTONOMY, UNLISTED } from "./autonomy";

/** The combined result of all layers, for each folder. */
export function Holds({ places }: { places: EffectiveView[] }) {
  return (
    <section aria-labelledby="holds">
      <h2 id="holds" className="font-medium">
        In effect
      </h2>
      <ul className="mt-2 grid gap-3 lg:has-[>:nth-child(2)]:grid-cols-2">
        {places.map((one) => (
          <li key={one.workspace_id} className="min-w-0 rounded-lg border border-line bg-panel px-4 py-3">
            <div className="flex items-start gap-3">
              <Code className="min-w-0 flex-1">{one.root}</Code>
              <Tag>{AUTONOMY[one.autonomy].words}</Tag>
            </div>
            <p className="mt-1 text-soft">
              {AUTONOMY[one.autonomy].means} {UNLISTED[one.unlisted] ?? ""}
            </p>
          </li>
        ))}
      </ul>
      {places.length === 0 && (
        <p className="mt-2 text-soft">
          No folder is registered yet. Run <Code>handrail connect</Code> in one.
        </p>
      )}
    </section>
  );
}
