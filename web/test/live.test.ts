import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

vi.hoisted(() => {
  const nothing = () => undefined;
  const browser = { window: globalThis, addEventListener: nothing, removeEventListener: nothing, localStorage: { getItem: () => null }, requestAnimationFrame: nothing };
  for (const [name, value] of Object.entries(browser)) Reflect.set(globalThis, name, value);
});

import { renew } from "../src/api/renew";
import { stream } from "../src/api/stream";
import type { ApprovalView } from "../src/api/types";
import { approvalsQuery, followApprovals } from "../src/approvals/pending";
import { callsQuery, followCalls } from "../src/chat/calls";
import { followTalks, ran, talkQuery } from "../src/chat/talk";

const [PROJECT, SESSION] = ["prj_1", "ses_1"];

/** Numbers that look random and are the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The state of the server, the events it has sent, and the requests it has read but not yet answered. */
class Server {
  messages: { seq: number; session_id: string; run_id: string; parts: never[] }[] = [];
  runs: { run_id: string; session_id: string; status: string; created_at: string }[] = [];
  approvals: Partial<ApprovalView>[] = [];
  calls: { tool_id: string; call_id: string; status: string }[] = [];
  sent: [name: string, event: object][] = [];
  answers: (() => void)[] = [];

  readonly fetch = (address: string): Promise<Response> => {
    const told = structuredClone(this.tell(new URL(address, "http://server")));
    return new Promise((resolve) => this.answers.push(() => resolve(Response.json(told))));
  };

  tell({ pathname, searchParams }: URL): object {
    if (pathname.endsWith("/approvals")) return { approvals: this.open() };
    if (pathname.endsWith("/activity")) return { calls: this.calls };
    const after = Number(searchParams.get("after"));
    return { messages: this.messages.filter((one) => one.seq > after), run: this.runs.at(-1) ?? null };
  }

  open(): Partial<ApprovalView>[] {
    return this.approvals.filter((one) => one.status === "pending");
  }

  send(name: string, event: object): void {
    this.sent.push([name, structuredClone(event)]);
  }

  /** Something happens: a message, a run that begins or ends, a request, or a decision. */
  act(kind: number): void {
    const run = this.runs.at(-1);
    const number = this.sent.length + 1;
    if (kind === 0 || !run) {
      const message = { seq: this.messages.length + 1, session_id: SESSION, run_id: "run", parts: [] };
      this.messages.push(message);
      this.send("chat.message", message);
    }
    if (!run || (kind === 1 && run.status !== "running")) {
      this.runs.push({ run_id: `run_${number}`, session_id: SESSION, status: "running", created_at: String(number).padStart(6, "0") });
      this.send("chat.run", this.runs.at(-1)!);
    } else if (kind === 1) {
      run.status = "done";
      this.send("chat.run", run);
    } else if (kind === 2) {
      const id = String(number).padStart(6, "0");
      this.calls.push({ tool_id: `exe_${id}`, call_id: id, status: "awaiting_approval" });
      this.approvals.push({ approval_id: `apr_${id}`, tool_id: `exe_${id}`, status: "pending", expires_at: id });
      this.send("tool.approval_request", this.approvals.at(-1)!);
    } else if (kind === 3 && this.open().length > 0) {
      const decided = this.open()[0]!;
      decided.status = "approved";
      this.calls.find((one) => one.tool_id === decided.tool_id)!.status = "completed";
      this.send("approval.resolved", decided);
      this.send("tool.status", { tool_id: decided.tool_id, status: "completed" });
    }
  }
}

/** The pages that are open, as far as they are data: a conversation, its calls, and the inbox. */
class Page {
  readonly queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  private readonly stops: (() => void)[];

  constructor() {
    this.stops = [
      stream.onOpen(() => renew(this.queries, {})),
      followTalks(this.queries, PROJECT),
      followApprovals(this.queries, PROJECT),
      followCalls(this.queries, PROJECT, SESSION),
      new QueryObserver(this.queries, talkQuery(PROJECT, SESSION)).subscribe(() => undefined),
      new QueryObserver(this.queries, approvalsQuery(PROJECT)).subscribe(() => undefined),
      new QueryObserver(this.queries, callsQuery(PROJECT, SESSION, true)).subscribe(() => undefined),
    ];
  }

  close(): void {
    this.stops.forEach((stop) => stop());
    this.queries.clear();
  }

  /** What is drawn of it: the inbox draws the open requests alone. */
  state(): object {
    const approvals = this.queries.getQueryData(approvalsQuery(PROJECT).queryKey) ?? [];
    return {
      talk: this.queries.getQueryData(talkQuery(PROJECT, SESSION).queryKey),
      calls: this.queries.getQueryData(callsQuery(PROJECT, SESSION, true).queryKey),
      open: approvals.filter((one) => one.status === "pending"),
    };
  }
}

function afterReload(server: Server): object {
  return { talk: { messages: server.messages, run: server.runs.at(-1) ?? null }, calls: server.calls, open: server.open() };
}

async function settle(server: Server, ms: number): Promise<void> {
  for (let rest = ms; rest >= 0; rest -= 250) {
    server.answers.splice(0).forEach((answer) => answer());
    await vi.advanceTimersByTimeAsync(250);
  }
}

vi.setConfig({ testTimeout: 60_000 });

let [server, page] = [new Server(), null as Page | null];

function open(): void {
  server = new Server();
  vi.stubGlobal("fetch", (address: string) => server.fetch(address));
  stream.say("live");
  page = new Page();
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  page?.close();
  vi.useRealTimers();
});

test("however answers and events overtake each other, a page ends as after a reload", async () => {
  for (let seed = 0; seed < 25; seed++) {
    const roll = dice(seed);
    open();
    let heard = 0;
    for (let step = 0; step < 40; step++) {
      const what = roll(8);
      if (what < 4) server.act(what);
      else if (what < 6 && heard < server.sent.length) stream.heard(...server.sent[heard++]!);
      else server.answers.splice(roll(server.answers.length), 1)[0]?.();
      await vi.advanceTimersByTimeAsync(roll(3) * 100);
    }
    while (heard < server.sent.length) stream.heard(...server.sent[heard++]!);
    // Much less than the page waits before it reads again by itself.
    await settle(server, 2_000);
    expect(page?.state(), `seed ${seed}`).toEqual(afterReload(server));
    page?.close();
  }
});

test("events that come during the first read are not lost", async () => {
  open();
  for (const kind of [0, 1, 0, 2]) server.act(kind);
  for (const frame of server.sent) stream.heard(...frame);
  await vi.advanceTimersByTimeAsync(300);
  await settle(server, 2_000);
  expect(page?.state()).toEqual(afterReload(server));
});

test("frames that are lost, repeated or out of order leave nothing wrong for long", async () => {
  for (let seed = 0; seed < 25; seed++) {
    const roll = dice(seed);
    open();
    let heard = 0;
    for (let step = 0; step < 60; step++) {
      const what = roll(12);
      const frame = server.sent[heard];
      if (what < 5) server.act(what);
      else if (what === 5 && heard > 0) stream.heard(...server.sent[roll(heard)]!);
      else if (what === 6) heard = Math.min(heard + 1, server.sent.length);
      else if (what === 7 && heard + 1 < server.sent.length) [server.sent[heard], server.sent[heard + 1]] = [server.sent[heard + 1]!, frame!];
      else if (what === 8) {
        stream.say("lost");
        if (roll(2)) heard = server.sent.length;
        stream.say("live");
      } else if (what < 11 && frame) {
        heard++;
        stream.heard(...frame);
      } else server.answers.splice(roll(server.answers.length), 1)[0]?.();
      await vi.advanceTimersByTimeAsync(roll(3) * 100);
    }
    await settle(server, 61_000);
    expect(page?.state(), `seed ${seed}`).toEqual(afterReload(server));
    page?.close();
  }
});

test("the answer to a message does not bring back a run that has ended meanwhile", async () => {
  open();
  server.act(1);
  const running = structuredClone(server.runs[0]!);
  await settle(server, 500);
  server.act(1);
  server.sent.splice(0).forEach((frame) => stream.heard(...frame));
  await settle(server, 500);
  ran(page!.queries, PROJECT, { ...running, error: null, ended_at: null });
  await settle(server, 500);
  expect(page?.state()).toEqual(afterReload(server));
});
