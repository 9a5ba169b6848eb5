import { send } from "./client";
import { Frames } from "./frames";

export type Line = "connecting" | "live" | "lost";

/** A listener for events and for the state of the connection. */
export interface Told {
  heard: (name: string, event: unknown) => void;
  say: (line: Line) => void;
}

export const PATIENCE_MS = 1_000;

/** The server says something every five seconds, be it nothing. */
const SILENCE_MS = 12_000;

/** Reads the events of a project, and resumes after the last one when the connection was lost. */
export class Reader {
  private readonly frames = new Frames();
  private wake = () => {};

  constructor(
    private readonly project: string,
    private readonly told: Told,
  ) {}

  async read(until: AbortSignal): Promise<void> {
    this.told.say("connecting");
    while (!until.aborted) {
      try {
        await this.readOnce(until);
      } catch {
        // Whatever ended it, the next attempt says more.
      }
      if (until.aborted) return;
      this.told.say("lost");
      await this.pause();
    }
  }

  /** Not to wait any longer before the next attempt. */
  hurry(): void {
    this.wake();
  }

  private async readOnce(until: AbortSignal): Promise<void> {
    const { lastId } = this.frames;
    const headers = lastId ? { "last-event-id": lastId } : undefined;
    const silence = new AbortController();
    let timer = 0;
    const hear = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => silence.abort(), SILENCE_MS);
    };
    hear();
    try {
      const signal = AbortSignal.any([until, silence.signal]);
      const response = await send(`/my/projects/${this.project}/chat/stream`, { ...(headers && { headers }), signal });
      this.frames.begin();
      let isLive = false;
      const texts = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await texts.read();
        if (done) return;
        hear();
        // Not before: an event can be missed until the server has said where its stream starts.
        if (!isLive) this.told.say("live");
        isLive = true;
        for (const { name, data } of this.frames.take(value)) this.tell(name, data);
      }
    } finally {
      window.clearTimeout(timer);
    }
  }

  /** A listener that throws is reported, and does not end the connection. */
  private tell(name: string, data: string): void {
    try {
      this.told.heard(name, JSON.parse(data));
    } catch (error) {
      reportError(error);
    }
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, PATIENCE_MS);
      this.wake = () => {
        window.clearTimeout(timer);
        resolve();
      };
    });
  }
}
