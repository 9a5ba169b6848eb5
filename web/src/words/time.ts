/** Seconds as `2:41`, or `1:02:41` where there are hours. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const short = `${hours ? String(minutes).padStart(2, "0") : minutes}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${short}` : short;
}

/** A moment as people here write it: the time alone where it is today. */
export function moment(iso: string, now: Date = new Date()): string {
  const at = new Date(iso);
  const today = at.toDateString() === now.toDateString();
  return at.toLocaleString(undefined, today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
}

/** The same to two digits, where there are no more to it: `340 ms`, `2.4 s`, `14 s`, `3:10 min`. */
export function roughly(ms: number): string {
  return ms >= 9_950 && ms < 60_000 ? `${Math.round(ms / 1000)} s` : duration(ms);
}

/** Milliseconds as `340 ms`, `2.4 s` or `3:10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${clock(ms / 1000)} min`;
}
