import type { UndoResponse } from "../api/types";

export interface Told {
  words: string;
  bad: boolean;
}

/** What came of an undo, in one or two sentences. */
export function toldOf(answer: UndoResponse): Told {
  const undone = answer.calls.filter((call) => call.status === "undone").length;
  const before = answer.calls.filter((call) => call.status === "undone_before").length;
  const refused = answer.calls.find((call) => call.status === "refused") ?? answer.calls.find((call) => call.reason !== "");
  if (answer.success) return { words: undone === 0 ? "It was undone before." : `${callsOf(undone)} undone.`, bad: false };
  const rest = answer.calls.length - undone - before;
  return { words: `${callsOf(undone)} undone, ${rest.toLocaleString()} not: ${refused?.reason ?? "its earlier files are not kept"}.`, bad: true };
}

function callsOf(count: number): string {
  return count === 1 ? "1 call was" : `${count.toLocaleString()} calls were`;
}
