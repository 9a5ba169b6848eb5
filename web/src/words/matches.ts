/** Whether every word of a search is somewhere in these texts; case does not count. */
export function matches(search: string, ...texts: (string | null)[]): boolean {
  const all = texts.join("\n").toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}
