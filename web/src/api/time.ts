/** The offset of the server's clock; updated by every response that carries the time. */
let skewMs = 0;

export function hearTime(now: string): void {
  skewMs = new Date(now).getTime() - Date.now();
}

/** What time it is for the server, in milliseconds. */
export function serverNow(): number {
  return Date.now() + skewMs;
}
