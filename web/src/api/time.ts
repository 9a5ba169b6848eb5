/** How far this machine's clock is from the server's; heard anew with whatever tells the time. */
let skewMs = 0;

export function hearTime(now: string): void {
  skewMs = new Date(now).getTime() - Date.now();
}

/** What time it is for the server, in milliseconds. */
export function serverNow(): number {
  return Date.now() + skewMs;
}
