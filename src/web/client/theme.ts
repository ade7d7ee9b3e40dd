import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "ralph.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export const theme = signal<Theme>(stored());
export function applyTheme(): void {
  const show = (): void => {
    const isDark = theme.value === "system" ? systemIsDark.matches : theme.value === "dark";
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  };
  systemIsDark.addEventListener("change", show);
  theme.subscribe(show);
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Kept for this page only where the browser stores nothing.
  }
}

function stored(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((one) => one === kept) ?? "system";
  } catch {
    return "system"; // the browser stores nothing
  }
}
