import { useEffect, useSyncExternalStore } from "react";

import { Reader, type Line } from "./reader";
import { Tab } from "./tabs";
import type { Events } from "./types";

type Name = keyof Events;
type Listener = (name: Name, event: unknown) => void;

/** What a project tells, in whichever tab it is read. */
class Stream {
  private ending = new AbortController();
  private line: Line = "connecting";
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private readonly openers = new Set<() => void>();

  open(project: string): void {
    this.close();
    this.ending = new AbortController();
    const { signal } = this.ending;
    this.say("connecting");
    if ("locks" in navigator) new Tab(project, this, signal);
    else void new Reader(project, this).read(signal);
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

  readonly state = (): Line => this.line;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Called whenever the connection is back: changes may have been missed, so read again. */
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
