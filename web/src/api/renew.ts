import type { Query, QueryClient, QueryFilters } from "@tanstack/react-query";

const readAgain = new WeakSet<Query>();

/**
 * Reads again what has changed on the server. A read that is in progress may have been answered before the change, and
 * a query with no data yet would share that read instead of starting its own: it is repeated as soon as it ends.
 */
export function renew(queries: QueryClient, filters: QueryFilters): void {
  const cache = queries.getQueryCache();
  for (const query of cache.findAll(filters)) {
    if (query.state.fetchStatus === "idle") {
      void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
      continue;
    }
    if (readAgain.has(query)) continue;
    readAgain.add(query);
    const stop = cache.subscribe((change) => {
      if (change.query !== query || (change.type !== "removed" && query.state.fetchStatus !== "idle")) return;
      stop();
      readAgain.delete(query);
      if (change.type !== "removed") void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    });
  }
}
