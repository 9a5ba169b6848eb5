import { useEffect, useSyncExternalStore } from "react";

import type { Events } from "./types";

/** One stream per tab: every screen listens to the same one. */

export type Line = "connecting" | "live" | "lost";
type Name = keyof Events;
type Listener = (name: Name, event: unknown) => void;

const NAMES: Name[] = [
  "tool.approval_request",
  "approval.resolved",
  "tool.status",
  "chat.message",
  "chat.delta",
  "chat.run",
  "session.tainted",
  "session.cleared",
  "stream.reset",
];
const PATIENCE_MS = 2_000;

class Stream {
  private source: EventSource | null = null;
  private project = "";
  private line: Line = "connecting";
  private retry = 0;
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private readonly openers = new Set<() => void>();

  open(project: string): void {
    if (this.source && this.project === project) return;
    this.close();
    this.project = project;
    this.say("connecting");
    const source = new EventSource(`/my/projects/${project}/chat/stream`);
    this.source = source;
    source.onopen = () => {
      this.say("live");
      this.openers.forEach((opened) => opened());
    };
    source.onerror = () => {
      this.say("lost");
      // The browser tries again by itself, except where it was told that it may not.
      if (source.readyState === EventSource.CLOSED) this.retryLater();
    };
    for (const name of NAMES) {
      source.addEventListener(name, (message) => {
        const event: unknown = JSON.parse((message as MessageEvent<string>).data);
        this.listeners.forEach((listener) => listener(name, event));
      });
    }
  }

  close(): void {
    window.clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  private retryLater(): void {
    const project = this.project;
    this.close();
    this.retry = window.setTimeout(() => this.open(project), PATIENCE_MS);
  }

  private say(line: Line): void {
    this.line = line;
    this.watchers.forEach((watcher) => watcher());
  }

  readonly state = (): Line => this.line;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Called whenever the line is there again: what was missed meanwhile must be read anew. */
  readonly onOpen = (opened: () => void): (() => void) => {
    this.openers.add(opened);
    return () => this.openers.delete(opened);
  };

  readonly listen = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export const stream = new Stream();

export function useLine(): Line {
  return useSyncExternalStore(stream.watch, stream.state);
}

/** Hear one kind of event for as long as a screen is shown. */
export function useEvent<N extends Name>(name: N, heard: (event: Events[N]) => void): void {
  useEffect(
    () => stream.listen((told, event) => told === name && heard(event as Events[N])),
    [name, heard],
  );
}
