import type { MessageView, PartView } from "../api/types";

/** A part of a conversation to draw: a text, or a call with its answer. */
export type Item =
  | { kind: "said"; key: string; by: MessageView["role"]; text: string; at: string; model: string | null }
  | { kind: "call"; key: string; use: PartView; answer: PartView | undefined }
  | { kind: "notice" | "summary"; key: string; text: string };

export function itemsOf(messages: MessageView[]): Item[] {
  const answers = new Map<string, PartView>();
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type === "tool_answer") answers.set(`${message.run_id} ${part.tool_use_id}`, part);
    }
  }
  return messages.flatMap((message) =>
    message.parts.flatMap((part, index): Item[] => {
      const key = `${message.seq}.${index}`;
      switch (part.type) {
        case "text":
          return part.text ? [{ kind: "said", key, by: message.role, text: part.text, at: message.timestamp, model: message.model }] : [];
        case "tool_use":
          return [{ kind: "call", key, use: part, answer: answers.get(`${message.run_id} ${part.tool_use_id}`) }];
        case "summary":
        case "notice":
          return [{ kind: part.type, key, text: part.text ?? "" }];
        case "tool_answer":
          return [];
      }
    }),
  );
}
