import { useMemo, useSyncExternalStore } from "react";

/** Whether a media query fits the window as it is now. */
export function useMatches(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query]);
  return useSyncExternalStore(
    (changed) => {
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => media.matches,
  );
}
