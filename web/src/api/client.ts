/** Asking the server. The browser's cookie says who asks; the header says that it is our own page. */

/** What went wrong, in the server's words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }
}

const OFFLINE = "The server cannot be reached. It may be starting; this page goes on by itself.";

export async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { "x-handrail-console": "1" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers, cache: "no-store" };
  if (body !== undefined) init.body = JSON.stringify(body);
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new Problem(0, "Not reached", OFFLINE);
  }
  const told = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  if (!response.ok) {
    throw new Problem(response.status, String(told?.["title"] ?? response.statusText), String(told?.["detail"] ?? `HTTP ${response.status}`));
  }
  return told as T;
}
