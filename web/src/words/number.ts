const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export function count(number: number): string {
  return whole.format(number);
}

/** Large numbers as `12.4K`, for where there is little room. */
export function compact(number: number): string {
  return short.format(number);
}

/** A part of a whole as `12 %`; a little is never nothing, and nearly all is never all. */
export function percent(part: number, all: number): string {
  if (all === 0 || part === 0) return "0 %";
  if (part === all) return "100 %";
  const share = (100 * part) / all;
  return share < 1 ? "< 1 %" : `${Math.min(Math.round(share), 99)} %`;
}

/** `1 call`, `2 calls`. */
export function several(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Bytes as `340 bytes`, `12 kB` or `1.4 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return several(bytes, "byte");
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
