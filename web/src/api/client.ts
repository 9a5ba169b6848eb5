import { dropKey, pageKey } from "./key";

/** Asking the server. The browser's cookie and the page's key say together who asks. */

/** What went wrong, in the server's words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
    readonly type = "",
  ) {
    super(detail);
  }
}

const NO_ANSWER = "The server has not answered. It may have received this: check before you repeat it.";
const ANSWER_MS = 15_000;
const OFFLINE = "The server cannot be reached. It may be starting; this page reconnects by itself.";
/** Who this browser is signed in as. */
export const SESSION = "/console/session";

export async function ask<T>(method: string, path: string, body?: unknown, answerMs = ANSWER_MS): Promise<T> {
  const init: RequestInit = { method, signal: AbortSignal.timeout(answerMs) };
  if (body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  return (await send(path, init)).json() as Promise<T>;
}

/** An answer that is good; for whoever wants to read it in their own way. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const key = pageKey();
  const headers = new Headers(init.headers);
  if (key !== null) headers.set("x-handrail-console", key);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, cache: "no-store" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") throw new Problem(408, "No answer", NO_ANSWER);
    throw new Problem(0, "Not reached", OFFLINE);
  }
  if (response.ok) return response;
  // A link may be refused to who is signed in; whatever else is, says that they are no more.
  const isLink = init.method === "POST" && path === SESSION;
  if (response.status === 401 && !isLink) dropKey(key);
  const told = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  throw new Problem(response.status, String(told?.["title"] ?? response.statusText), String(told?.["detail"] ?? `HTTP ${response.status}`), String(told?.["type"] ?? ""));
}

/** A link cannot send the page's key, so the page fetches the file and hands it over. */
export async function download(path: string, name: string): Promise<void> {
  const address = URL.createObjectURL(await (await send(path)).blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
