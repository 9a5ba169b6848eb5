const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

/** A time for a narrow column: without the date if it is today. Fast enough for thousands of rows. */
export function shortMoment(iso: string): string {
  const at = new Date(iso);
  return (at.toDateString() === new Date().toDateString() ? TIME : DAY).format(at);
}
