/** Seconds as `2:41`, or `1:02:41` where there are hours. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const short = `${hours ? String(minutes).padStart(2, "0") : minutes}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${short}` : short;
}

/** A moment in the browser's locale; today's without the date. */
export function moment(iso: string, now: Date = new Date()): string {
  const at = new Date(iso);
  const today = at.toDateString() === now.toDateString();
  return at.toLocaleString(undefined, today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
}

/** How long ago a moment was, in its largest unit: `now`, `3 min`, `2 h`, `5 d`. */
export function age(iso: string, now: number): string {
  const minutes = Math.floor((now - new Date(iso).getTime()) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

/** A duration in two digits where that is enough: `340 ms`, `2.4 s`, `14 s`, `3:10 min`. */
export function roughly(ms: number): string {
  return ms >= 9_950 && ms < 60_000 ? `${Math.round(ms / 1000)} s` : duration(ms);
}

/** Milliseconds as `340 ms`, `2.4 s` or `3:10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${clock(ms / 1000)} min`;
}
