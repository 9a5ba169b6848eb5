import { useQuery } from "@tanstack/react-query";
import { Download, Search } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { ask, download } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { ActivityResponse, ToolsResponse } from "../api/types";
import { go } from "../router";
import { Button } from "../ui/button";
import { ITEM, Menu } from "../ui/menu";
import { Select } from "../ui/select";
import { agentName } from "../words/agent";
import { STATUS_OUTCOMES } from "../words/outcome";
import { visible } from "../words/visible";
import { addressOf, isFiltered, NO_FILTERS, questionOf, RISKS, type Filters } from "./filters";

const TYPING_MS = 300;
const RECENT = 200;

export function Toolbar({ filters, shown }: { filters: Filters; shown: string | null }) {
  const tools = useTools();
  const { agents, sessions } = useRecent();
  const change = (some: Partial<Filters>) => go(addressOf({ ...filters, ...some }, shown), { replace: true });
  return (
    <div role="search" aria-label="Filter calls" className="grid grid-cols-2 items-center gap-2 px-4 pb-3 sm:flex sm:flex-wrap">
      <Words value={filters.q} onChange={(q) => change({ q })} />
      <Select quiet label="State" value={filters.state} options={[["", "Any state"], ...Object.entries(STATUS_OUTCOMES).map(([name, one]) => [name, one.words] as const)]} onChange={(state) => change({ state })} />
      <Select quiet label="Tool" value={filters.tool} options={[["", "Any tool"], ...withOwn(tools, filters.tool).map((name) => [name, name] as const)]} onChange={(tool) => change({ tool })} />
      <Select quiet label="Risk" value={filters.risk} options={[["", "Any risk"], ...RISKS.map((risk) => [risk, risk.toLowerCase()] as const)]} onChange={(risk) => change({ risk })} />
      <Select quiet label="Agent" value={filters.agent} options={[["", "Any agent"], ...choicesOf(agents, filters.agent)]} onChange={(agent) => change({ agent })} />
      <Select quiet label="Session" value={filters.session} options={[["", "Any session"], ...choicesOf(sessions, filters.session)]} onChange={(session) => change({ session })} />
      {isFiltered(filters) && (
        <Button look="quiet" className="h-8" onClick={() => go(addressOf(NO_FILTERS, shown), { replace: true })}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** A search field. The list is filtered when typing pauses. */
function Words({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = window.setTimeout(() => onChange(text.trim()), TYPING_MS);
    return () => window.clearTimeout(timer);
    // Only typing starts the timer.
  }, [text]);
  // Shows a filter that was cleared elsewhere, without changing what is being typed.
  useEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value]);
  return (
    <label className="relative min-w-36 flex-1 md:max-w-72">
      <span className="sr-only">Search parameters, reasons, errors and names</span>
      <Search size={14} className="absolute top-2.25 left-2.5 text-soft" aria-hidden />
      <input
        type="search"
        value={text}
        maxLength={200}
        placeholder="Search"
        onChange={(event) => setText(event.target.value)}
        className={`h-8 w-full rounded-md border bg-panel pr-2 pl-8 placeholder:text-soft ${value ? "border-accent" : "border-line"}`}
      />
    </label>
  );
}

export function Export({ filters }: { filters: Filters }) {
  const path = usePath();
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const save = async (format: string) => {
    const query = questionOf(filters);
    query.set("format", format);
    setBusy(true);
    setTrouble(null);
    try {
      await download(path(`/activity/export?${query}`), `handrail-activity.${format}`);
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <div className="flex items-center gap-3">
      {trouble && (
        <p role="alert" className="text-critical">
          {visible(trouble)}
        </p>
      )}
      <Menu
        align="end"
        className="w-max"
        trigger={(button) => (
          <Button {...button} disabled={busy} className="h-8" icon={<Download size={14} aria-hidden />}>
            {busy ? "Exporting…" : "Export"}
          </Button>
        )}
      >
        <button type="button" role="menuitem" onClick={() => void save("jsonl")} className={`block ${ITEM}`}>
          JSON lines, with results
        </button>
        <button type="button" role="menuitem" onClick={() => void save("csv")} className={`block ${ITEM}`}>
          CSV, one row per call
        </button>
      </Menu>
    </div>
  );
}

function useTools(): string[] {
  const path = usePath();
  const { project } = useSession();
  const { data } = useQuery({
    queryKey: ["tools", project.project_id],
    queryFn: async () => (await ask<ToolsResponse>("GET", path("/tools/available"))).tools.map((tool) => tool.name).sort(),
    staleTime: 300_000,
  });
  return data ?? [];
}

/** Agents and sessions of the latest calls, to choose from. */
function useRecent(): { agents: Map<string, string>; sessions: Map<string, string> } {
  const path = usePath();
  const { project } = useSession();
  const { data } = useQuery({
    queryKey: ["activity-recent", project.project_id],
    queryFn: async () => (await ask<ActivityResponse>("GET", path(`/activity?limit=${RECENT}`))).calls,
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
  return useMemo(
    () => ({
      agents: new Map(data?.map((call) => [call.agent_id, agentName(call)])),
      sessions: new Map(data?.map((call) => [call.session_id, visible(call.session_id)])),
    }),
    [data],
  );
}

/** The choices of a filter, including the one from the address. */
function choicesOf(known: Map<string, string>, own: string): (readonly [string, string])[] {
  return [...(own && !known.has(own) ? [[own, visible(own)] as const] : []), ...known];
}

/** The tools to choose from, including the one from the address. */
function withOwn(names: string[], own: string): string[] {
  return own && !names.includes(own) ? [own, ...names] : names;
}
