/** A parameter as the text of a field, a list with one line for each item; null if a field cannot hold it as it is. */
export function fieldOf(value: unknown): string | null {
  if (Array.isArray(value)) {
    const text = value.join("\n");
    const isOfLines = value.every((one) => typeof one === "string" && !/[\r\n]/.test(one));
    return isOfLines && (text !== "" || value.length === 0) ? text : null;
  }
  if (typeof value !== "string") return null;
  // A field knows one kind of line end.
  const lines = value.replaceAll("\r\n", "\n");
  return valueOf(value, lines) === value && !lines.includes("\r") ? lines : null;
}

/** What was typed, in the form of the parameter as it was before. */
export function valueOf(before: unknown, text: string): string | string[] {
  if (Array.isArray(before)) return text === "" ? [] : text.split("\n");
  return typeof before === "string" && before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}
