import { useEffect, useSyncExternalStore } from "react";

import { PATIENCE_MS, Reader, type Line } from "./reader";
import type { Events } from "./types";

/**
 * One stream for all tabs that show a project, since browsers keep no more than six lines to a server.
 * The tab that holds the lock reads and tells the others; when it closes, the next one holds it.
 */

type Name = keyof Events;
type Listener = (name: Name, event: unknown) => void;

/** What tabs tell each other: the one that reads what it hears, the others that they are there, or cannot wait. */
type Note = { line: Line } | { name: Name; event: unknown } | "hello" | "hurry";

class Stream {
  private ending = new AbortController();
  private line: Line = "connecting";
  private impatience = 0;
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private readonly openers = new Set<() => void>();

  open(project: string): void {
    this.close();
    this.ending = new AbortController();
    const { signal } = this.ending;
    this.say("connecting");
    if (!("locks" in navigator)) {
      void new Reader(project, this).read(signal);
      return;
    }
    const shared = `handrail.stream.${project}`;
    const tabs = new BroadcastChannel(shared);
    signal.addEventListener("abort", () => tabs.close());
    const tell = (note: Note) => signal.aborted || tabs.postMessage(note);
    tabs.onmessage = ({ data }: MessageEvent<Note>) => this.follow(data, tell);
    tell("hello");
    const read = () => {
      const reader = new Reader(project, {
        heard: (name, event) => {
          tell({ name: name as Name, event });
          this.heard(name, event);
        },
        say: (line) => {
          tell({ line });
          this.say(line);
        },
      });
      tabs.onmessage = ({ data }: MessageEvent<Note>) => {
        if (data === "hello") tell({ line: this.line });
        else if (data === "hurry") reader.hurry();
      };
      return reader.read(signal);
    };
    // Whoever is gone before it was their turn needs no lock.
    navigator.locks.request(shared, { signal }, read).catch(() => {});
  }

  close(): void {
    this.ending.abort();
  }

  readonly heard = (name: string, event: unknown): void => {
    this.listeners.forEach((listener) => listener(name as Name, event));
  };

  readonly say = (line: Line): void => {
    const opened = line === "live" && this.line !== "live";
    this.line = line;
    this.watchers.forEach((watcher) => watcher());
    if (opened) this.openers.forEach((opened) => opened());
  };

  /** What the tab that reads has told. */
  private follow(note: Note, tell: (note: Note) => void): void {
    if (typeof note === "string") return;
    if ("name" in note) this.heard(note.name, note.event);
    else this.say(note.line);
    if (!("line" in note)) return;
    // Clocks of a hidden tab go slowly; one that is looked at does not wait for them.
    window.clearTimeout(this.impatience);
    if (note.line === "lost") this.impatience = window.setTimeout(() => document.visibilityState === "visible" && tell("hurry"), PATIENCE_MS);
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
