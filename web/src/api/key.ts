/** The page's half of what signs a browser in. The other half is a cookie, which every port of this machine is sent; this one no other port can read. */

const KEY = "handrail.page-key";
const LEFT = "handrail:left";

export function pageKey(): string | null {
  return localStorage.getItem(KEY);
}

export function keepKey(key: string): void {
  localStorage.setItem(KEY, key);
}

/** For a key that opens nothing any more; another that came meanwhile stays. */
export function dropKey(key: string | null): void {
  if (key === null || pageKey() !== key) return;
  localStorage.removeItem(KEY);
  window.dispatchEvent(new Event(LEFT));
}

/** Whether this browser is signed in, told whenever it changes, in whichever tab. */
export function watchKey(changed: (isKept: boolean) => void): () => void {
  const left = () => changed(false);
  // Heard of other tabs alone.
  const stored = (event: StorageEvent) => (event.key === KEY || event.key === null) && changed(pageKey() !== null);
  window.addEventListener(LEFT, left);
  window.addEventListener("storage", stored);
  return () => {
    window.removeEventListener(LEFT, left);
    window.removeEventListener("storage", stored);
  };
}
