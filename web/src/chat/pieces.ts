import { useSyncExternalStore } from "react";

import { stream } from "../api/stream";
import type { ChatDelta, ChatMessage } from "../api/types";

/** The part of a message that has arrived so far. */
export interface Unfinished {
  seq: number;
  text: string;
}

const saying = new Map<string, Unfinished>();
const watchers = new Set<() => void>();
let drawing = 0;

function add(piece: ChatDelta): void {
  const before = saying.get(piece.session_id);
  const text = before?.seq === piece.seq ? before.text : "";
  if (before && before.seq > piece.seq) return;
  saying.set(piece.session_id, { seq: piece.seq, text: text + piece.text });
  // At most once per frame of the screen.
  drawing ||= requestAnimationFrame(() => {
    drawing = 0;
    watchers.forEach((watcher) => watcher());
  });
}

function end(message: ChatMessage): void {
  const unfinished = saying.get(message.session_id);
  if (unfinished && unfinished.seq <= message.seq) forget(message.session_id);
}

export function forget(sessionId: string): void {
  if (saying.delete(sessionId)) watchers.forEach((watcher) => watcher());
}

/** Mounted with the app, so that a conversation opened midway shows the whole text so far. */
export function listenForPieces(): () => void {
  const stop = stream.listen((name, event) => {
    if (name === "chat.delta") add(event as ChatDelta);
    else if (name === "chat.message") end(event as ChatMessage);
  });
  const restart = stream.onOpen(() => [...saying.keys()].forEach(forget));
  return () => {
    stop();
    restart();
  };
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

export function useUnfinished(sessionId: string): Unfinished | undefined {
  return useSyncExternalStore(watch, () => saying.get(sessionId));
}
