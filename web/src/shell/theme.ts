/** Dark or light: as the system has it, unless the person says otherwise. */
export type Theme = "system" | "dark" | "light";

const KEY = "handrail.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "dark" || kept === "light" ? kept : "system";
}

export function setTheme(wanted: Theme): void {
  if (wanted === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, wanted);
  applyTheme();
}

export function applyTheme(): void {
  const wanted = theme();
  const isDark = wanted === "dark" || (wanted === "system" && dark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

dark.addEventListener("change", applyTheme);
