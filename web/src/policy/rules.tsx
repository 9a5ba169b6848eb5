import { useState } from "react";

import type { EffectiveView, LayerView } from "../api/types";
import { Search } from "../ui/search";
import { matches } from "../words/matches";
import { Layer } from "./layer";

const RISKS = ["LOW", "MEDIUM", "HIGH", "CRITICAL", "FORBIDDEN"];
const KINDS = ["command", "path", "write", "tool"];

/** Every rule, by the file it comes from; the search is for all of them. */
export function Rules({ layers, places }: { layers: LayerView[]; places: EffectiveView[] }) {
  const [search, setSearch] = useState("");
  const [kind, setKind] = useState("");
  const [risk, setRisk] = useState("");
  const found = layers.map((layer) => ({
    layer,
    rules: layer.rules.filter(
      (one) => (!kind || one.kind.startsWith(kind)) && (!risk || one.risk_level === risk) && matches(search, one.name, one.reason, one.note, one.kind),
    ),
  }));
  const total = found.reduce((sum, one) => sum + one.rules.length, 0);
  return (
    <section aria-labelledby="rules">
      <div className="sticky top-0 z-10 -mx-1 flex flex-wrap items-center gap-2 bg-bg px-1 py-2">
        <h2 id="rules" className="mr-auto font-medium">
          Rules <span className="font-normal text-soft tabular-nums">{total}</span>
        </h2>
        <Filter label="Kind" all="every kind" value={kind} options={KINDS} onChange={setKind} />
        <Filter label="Risk" all="every risk" value={risk} options={RISKS} onChange={setRisk} />
        <Search label="Search rules" value={search} onChange={setSearch} className="w-full sm:w-56" />
        <p role="status" className="sr-only">
          {total} rules found
        </p>
      </div>
      <div className="space-y-4">
        {found.map(({ layer, rules }) => (
          <Layer key={layer.layer + layer.source} layer={layer} rules={rules} narrowed={Boolean(search || kind || risk)} alone={places.length < 2} />
        ))}
      </div>
    </section>
  );
}

function Filter({ label, all, value, options, onChange }: { label: string; all: string; value: string; options: string[]; onChange: (value: string) => void }) {
  return (
    <label>
      <span className="sr-only">{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)} className="rounded-md border border-line bg-panel px-2 py-1.5">
        <option value="">{all}</option>
        {options.map((one) => (
          <option key={one} value={one}>
            {one.toLowerCase()}
          </option>
        ))}
      </select>
    </label>
  );
}
