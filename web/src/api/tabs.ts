import { PATIENCE_MS, Reader, type Line, type Told } from "./reader";

/**
 * One stream for all tabs that show a project, since browsers keep no more than six lines to a server.
 * The tab that holds the lock reads and tells the others; when it closes, the next one holds it. One that a browser
 * has put to sleep holds it and tells nothing: a tab that is looked at asks it now and then, and takes its place.
 */

const LOOK_MS = 5_000;
const ANSWER_MS = 2_000;

/** What tabs tell each other: the one that reads what it hears, the others that they are there, or cannot wait. */
type Note = { line: Line } | { name: string; event: unknown } | "hello" | "hurry";

export class Tab {
  private readonly shared: string;
  private readonly channel: BroadcastChannel;
  private queue = new AbortController();
  private reader: Reader | null = null;
  private line: Line = "connecting";
  private doubt = 0;
  private impatience = 0;

  constructor(
    private readonly project: string,
    private readonly told: Told,
    private readonly until: AbortSignal,
  ) {
    this.shared = `handrail.stream.${project}`;
    this.channel = new BroadcastChannel(this.shared);
    this.channel.onmessage = ({ data }: MessageEvent<Note>) => (this.reader ? this.serve(data) : this.follow(data));
    const look = window.setInterval(this.look, LOOK_MS);
    document.addEventListener("visibilitychange", this.look);
    until.addEventListener("abort", () => {
      window.clearInterval(look);
      window.clearTimeout(this.doubt);
      document.removeEventListener("visibilitychange", this.look);
      this.queue.abort();
      this.channel.close();
    });
    this.tell("hello");
    void this.wait();
  }

  /** For its turn to read; and again, when it was taken for asleep. */
  private async wait(): Promise<void> {
    while (!this.until.aborted) {
      this.queue = new AbortController();
      await this.hold({ signal: this.queue.signal });
      if (this.queue.signal.aborted) await this.hold({ steal: true });
    }
  }

  private async hold(how: LockOptions): Promise<void> {
    if (this.until.aborted) return;
    const reading = new AbortController();
    const end = () => reading.abort();
    this.until.addEventListener("abort", end);
    await navigator.locks.request(this.shared, how, () => this.read(reading.signal)).catch(end);
    this.until.removeEventListener("abort", end);
    this.reader = null;
  }

  private read(until: AbortSignal): Promise<void> {
    window.clearTimeout(this.doubt);
    this.reader = new Reader(this.project, {
      heard: (name, event) => {
        this.tell({ name, event });
        this.told.heard(name, event);
      },
      say: (line) => {
        this.line = line;
        this.tell({ line });
        this.told.say(line);
      },
    });
    return this.reader.read(until);
  }

  private serve(note: Note): void {
    if (note === "hello") this.tell({ line: this.line });
    else if (note === "hurry") this.reader?.hurry();
  }

  private follow(note: Note): void {
    if (typeof note === "string") return;
    window.clearTimeout(this.doubt);
    if ("name" in note) {
      this.told.heard(note.name, note.event);
      return;
    }
    this.told.say(note.line);
    // Clocks of a hidden tab go slowly; one that is looked at does not wait for them.
    window.clearTimeout(this.impatience);
    if (note.line === "lost") this.impatience = window.setTimeout(() => isLookedAt() && this.tell("hurry"), PATIENCE_MS);
  }

  private readonly look = (): void => {
    if (this.reader || !isLookedAt()) return;
    this.tell("hello");
    window.clearTimeout(this.doubt);
    this.doubt = window.setTimeout(() => this.queue.abort(), ANSWER_MS);
  };

  private tell(note: Note): void {
    if (!this.until.aborted) this.channel.postMessage(note);
  }
}

function isLookedAt(): boolean {
  return document.visibilityState === "visible";
}
