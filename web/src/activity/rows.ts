import { keepPreviousData, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import { stream } from "../api/stream";
import type { ActivityResponse, GlimpseView } from "../api/types";
import { questionOf, type Filters } from "./filters";

export const PAGE = 100;
const PAUSE_MS = 500;
const SETTLED_MS = 80;

export interface Rows {
  /** How many calls match; undefined until the first answer. */
  count: number | undefined;
  at: (index: number) => GlimpseView | undefined;
  error: Error | null;
  isOld: boolean;
  /** Whether calls arrived while the list was scrolled down. */
  hasNews: boolean;
  refresh: () => void;
}

/**
 * The newest calls, and the visible pages of older ones. Older pages are counted from the end of the first
 * page, so new calls at the top do not move them.
 */
export function useRows(filters: Filters, firstPage: number, lastPage: number): Rows {
  const path = usePath();
  const queries = useQueryClient();
  const project = useSession().project.project_id;
  const question = questionOf(filters).toString();
  const read = (more: Record<string, string>) => {
    const query = new URLSearchParams(question);
    for (const [name, value] of Object.entries(more)) query.set(name, value);
    return ask<ActivityResponse>("GET", path(`/activity?${query}`));
  };
  const headKey = ["activity", project, question];
  const head = useQuery({
    queryKey: headKey,
    queryFn: () => read({ limit: String(PAGE), count: "true" }),
    placeholderData: keepPreviousData,
  });
  const anchor = head.data?.calls.at(-1)?.mark ?? "";
  const wanted = useSettled(firstPage, lastPage);
  const pages = useQueries({
    queries: wanted.map((page) => ({
      queryKey: ["activity-page", project, question, anchor, page],
      queryFn: async () => (await read({ limit: String(PAGE), before: anchor, offset: String((page - 1) * PAGE) })).calls,
      enabled: anchor !== "" && !head.isPlaceholderData,
      staleTime: Infinity,
      gcTime: 30_000,
    })),
  });
  const [hasNews, setHasNews] = useState(false);
  const isAtTop = firstPage === 0;
  const refresh = () => {
    setHasNews(false);
    void queries.invalidateQueries({ queryKey: headKey });
  };
  useEffect(() => setHasNews(false), [question]);
  useEffect(() => {
    if (hasNews && isAtTop) refresh();
  }, [hasNews, isAtTop]);
  useLive((changed) => {
    if (isAtTop) refresh();
    else setHasNews(true);
    void queries.invalidateQueries({
      predicate: (one) => one.queryKey[0] === "activity-page" && (one.state.data as GlimpseView[] | undefined)?.some((call) => changed.has(call.tool_id)) === true,
    });
  });
  const known = new Map(wanted.map((page, index) => [page, pages[index]?.data]));
  return {
    count: head.data?.matching_count ?? undefined,
    at: (index) => (index < PAGE ? head.data?.calls[index] : known.get(Math.floor(index / PAGE))?.[index % PAGE]),
    error: head.error ?? pages.find((one) => one.error)?.error ?? null,
    isOld: head.isPlaceholderData,
    hasNews,
    refresh,
  };
}

/** The visible pages after the first, once scrolling pauses. */
function useSettled(first: number, last: number): number[] {
  const [[from, to], settle] = useState([first, last] as [number, number]);
  useEffect(() => {
    const timer = window.setTimeout(() => settle([first, last]), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, [first, last]);
  return useMemo(() => {
    const start = Math.max(1, from);
    return Array.from({ length: Math.max(0, to - start + 1) }, (_, index) => start + index);
  }, [from, to]);
}

/** Reports the ids of changed calls, at most once in a while. */
function useLive(tell: (changed: Set<string>) => void): void {
  const [heard] = useState(() => ({ tell, changed: new Set<string>(), timer: 0 }));
  heard.tell = tell;
  useEffect(() => {
    const stop = stream.listen((name, event) => {
      if (name !== "tool.status" && name !== "tool.undone" && name !== "tool.approval_request" && name !== "approval.resolved") return;
      heard.changed.add((event as { tool_id: string }).tool_id);
      heard.timer ||= window.setTimeout(() => {
        const { changed } = heard;
        heard.timer = 0;
        heard.changed = new Set();
        heard.tell(changed);
      }, PAUSE_MS);
    });
    return () => {
      window.clearTimeout(heard.timer);
      heard.timer = 0;
      stop();
    };
  }, [heard]);
}
