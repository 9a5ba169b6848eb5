import type { Bucket } from "../api/types";
import { usePlace } from "../router";

export interface Range {
  name: string;
  words: string;
  hours: number;
  bucket: Bucket;
}

export const RANGES: Range[] = [
  { name: "24h", words: "24 hours", hours: 24, bucket: "hour" },
  { name: "7d", words: "7 days", hours: 7 * 24, bucket: "hour" },
  { name: "30d", words: "30 days", hours: 30 * 24, bucket: "day" },
];

/** The time that is shown, as the address has it. */
export function useRange(): Range {
  const { query } = usePlace();
  return RANGES.find((one) => one.name === query.get("range")) ?? RANGES[1]!;
}
