import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import { serverNow } from "../api/time";
import type { AnalyticsResponse } from "../api/types";
import { allOf } from "./outcomes";
import type { Range } from "./range";

const HOUR_MS = 3_600_000;
const REFRESH_MS = 60_000;

/** All numbers of the page, up to the server's present time, refreshed every minute. */
export function useNumbers(range: Range) {
  const path = usePath();
  const { project } = useSession();
  return useQuery({
    queryKey: ["analytics", project.project_id, range.name],
    queryFn: () => {
      const now = serverNow();
      const query = new URLSearchParams({
        from: new Date(now - range.hours * HOUR_MS).toISOString(),
        to: new Date(now).toISOString(),
        bucket: range.bucket,
      });
      return ask<AnalyticsResponse>("GET", path(`/analytics?${query}`));
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Whether there is anything to show. */
export function isEmpty(numbers: AnalyticsResponse): boolean {
  const { totals, waiting, asked, errors, tokens } = numbers;
  return allOf(totals) + waiting === 0 && asked.length === 0 && errors.length === 0 && tokens.days.every((one) => one.used_tokens === 0);
}

/** The start of a bucket in the format of the browser. Days are in UTC. */
export function bucketName(at: string, bucket: AnalyticsResponse["bucket"]): string {
  const begins = new Date(at);
  return bucket === "day"
    ? begins.toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })
    : begins.toLocaleString(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
