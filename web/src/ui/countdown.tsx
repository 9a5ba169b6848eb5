import { useEffect, useState } from "react";

import { serverNow } from "../api/time";
import { clock } from "../words/time";

const ROUND = 2 * Math.PI * 6;
const HURRY_SECONDS = 60;

/** Seconds until a moment, by the server's time. */
export function useSecondsLeft(until: string): number {
  const left = () => Math.max(0, (new Date(until).getTime() - serverNow()) / 1000);
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = window.setInterval(() => setSeconds(left()), 1000);
    return () => window.clearInterval(timer);
    // `left` is made anew with each drawing, out of this.
  }, [until]);
  return seconds;
}

export function Countdown({ until, total }: { until: string; total: number }) {
  const seconds = useSecondsLeft(until);
  const hurry = seconds < HURRY_SECONDS;
  return (
    <span className={`inline-flex items-center gap-1.5 tabular-nums ${hurry ? "text-critical" : ""}`}>
      <svg width="16" height="16" viewBox="0 0 16 16" className="-rotate-90" aria-hidden>
        <circle cx="8" cy="8" r="6" fill="none" stroke="var(--line)" strokeWidth="2.5" />
        <circle
          cx="8"
          cy="8"
          r="6"
          fill="none"
          stroke="currentColor"
          strokeWidth="2.5"
          strokeDasharray={`${Math.min(1, seconds / total) * ROUND} ${ROUND}`}
        />
      </svg>
      {clock(seconds)}
    </span>
  );
}
