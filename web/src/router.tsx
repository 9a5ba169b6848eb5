import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

/** Where we are: a page and what is shown on it, both in the address, so that it can be shared. */
export interface Place {
  page: string;
  id: string | null;
  query: URLSearchParams;
}

const MOVED = "handrail:moved";

export function go(address: string, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  window.dispatchEvent(new Event(MOVED));
}

export function usePlace(): Place {
  const address = useSyncExternalStore(watch, () => location.pathname + location.search);
  const url = new URL(address, location.origin);
  const [page = "", id = ""] = url.pathname.slice(1).split("/").map(decoded);
  return { page: page || "approvals", id: id || null, query: url.searchParams };
}

/** An address that nobody can read is left as it is: then there is nothing of that name. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function watch(changed: () => void): () => void {
  window.addEventListener("popstate", changed);
  window.addEventListener(MOVED, changed);
  return () => {
    window.removeEventListener("popstate", changed);
    window.removeEventListener(MOVED, changed);
  };
}

/** A link that stays in this page, unless a new tab is asked for. */
export function Link({ href = "/", onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement>) {
  const followed = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(href);
  };
  return <a href={href} onClick={followed} {...rest} />;
}
