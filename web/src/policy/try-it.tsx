import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";

import { ask, Problem } from "../api/client";
import { usePath } from "../api/session";
import type { Autonomy, EffectiveView, ExplainRequest, ExplainResponse, ToolsResponse } from "../api/types";
import { usePlace } from "../router";
import { useSettled } from "../ui/settled";
import { HOW_TO_CALL, readCall } from "../words/call";
import { visible } from "../words/visible";
import { AUTONOMY } from "./autonomy";
import { Verdict } from "./verdict";

const EXAMPLES = ["git push origin main", "rg -n TODO src | head", "rm -rf build", "npm install left-pad", "read_file path=.env"];

/** Type a command or a call and see its verdict at once. Nothing is run, stored or asked. */
export function TryIt({ places }: { places: EffectiveView[] }) {
  const { query } = usePlace();
  const [text, setText] = useState(() => query.get("try") ?? "");
  const [workspace, setWorkspace] = useState(places[0]?.workspace_id ?? null);
  const [autonomy, setAutonomy] = useState<Autonomy | "">("");
  const explained = useExplained(text, workspace, autonomy || null);
  return (
    <section aria-labelledby="try-it">
      <h2 id="try-it" className="font-medium">
        Try it
      </h2>
      <div className="mt-2 rounded-lg border border-line bg-panel">
        <label className="flex gap-2 rounded-t-lg px-4 py-3 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent">
          <span className="sr-only">A command or a call to try</span>
          <span className="font-mono text-soft select-none" aria-hidden>
            $
          </span>
          <textarea
            value={text}
            onChange={(event) => setText(event.target.value)}
            rows={Math.min(8, text.split("\n").length)}
            maxLength={20_000}
            placeholder="a command or a call"
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            className="field-sizing-content max-h-48 w-full resize-none bg-transparent font-mono text-[13px] leading-5 outline-none placeholder:text-soft"
          />
        </label>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-line px-4 py-2 text-xs text-soft">
          <Choice label="Agent" value={autonomy} onChange={(value) => setAutonomy(value as Autonomy | "")}>
            <option value="">with the project’s setting</option>
            {Object.entries(AUTONOMY).map(([name, { words }]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </Choice>
          {places.length > 1 && (
            <Choice label="In" value={workspace ?? ""} onChange={setWorkspace}>
              {places.map((one) => (
                <option key={one.workspace_id} value={one.workspace_id}>
                  {visible(one.root)}
                </option>
              ))}
            </Choice>
          )}
          <span className="ml-auto">Nothing is run or stored, and you are not asked.</span>
        </div>
        <div className="min-h-44 border-t border-line p-4">
          {text.trim() === "" ? <Examples onChoose={setText} /> : <Said explained={explained} />}
        </div>
      </div>
    </section>
  );
}

function useExplained(text: string, workspace: string | null, autonomy: Autonomy | null) {
  const path = usePath();
  const tools = useQuery({ queryKey: ["tools", path("")], queryFn: () => ask<ToolsResponse>("GET", path("/tools/available")), staleTime: Infinity });
  const names = useMemo(() => new Set(tools.data?.tools.map((one) => one.name)), [tools.data]);
  const settled = useSettled(text.trim());
  const call = readCall(settled, names);
  const body: ExplainRequest | null = call && { ...call, workspace_id: workspace, autonomy };
  const explained = useQuery({
    queryKey: ["explain", path(""), body],
    queryFn: () => ask<ExplainResponse>("POST", path("/policy/explain"), body),
    enabled: settled !== "" && body !== null && !tools.isPending,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  const unreadable = call === null || (explained.error instanceof Problem && explained.error.status === 400);
  return {
    said: call && explained.data,
    trouble: call === null ? HOW_TO_CALL : explained.error?.message,
    unreadable,
    // What is shown still belongs to what was typed before.
    late: settled !== text.trim() || explained.isPlaceholderData,
  };
}

function Said({ explained: { said, trouble, unreadable, late } }: { explained: ReturnType<typeof useExplained> }) {
  if (trouble) {
    return (
      <p role="status" className="text-soft [overflow-wrap:anywhere]">
        {unreadable && "This cannot be evaluated yet: "}
        {visible(trouble)}
      </p>
    );
  }
  return (
    <div aria-busy={late} className={late ? "opacity-60" : ""}>
      {said && <Verdict said={said} />}
    </div>
  );
}

function Examples({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <div>
      <p className="text-soft">For example:</p>
      <ul className="mt-2 flex flex-wrap gap-2">
        {EXAMPLES.map((one) => (
          <li key={one}>
            <button type="button" onClick={() => onChoose(one)} className="rounded-md border border-line bg-bg px-2.5 py-1 font-mono text-xs hover:bg-raised">
              {one}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Choice({ label, value, onChange, children }: { label: string; value: string; onChange: (value: string) => void; children: ReactNode }) {
  return (
    <label className="flex min-w-0 items-center gap-1.5">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)} className="min-w-0 rounded border border-line bg-bg px-1.5 py-1 text-ink">
        {children}
      </select>
    </label>
  );
}
