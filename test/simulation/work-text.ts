/** What is really wrong with a file: checks fail because of it, unless somebody weakens them; or no check sees it. */
export type Flaw = "red" | "hushed";

/** `removed`: what the old test demands is gone, as the task asks. `quiet`: a suppression that hides no fault. */
export type Mark = Flaw | "removed" | "quiet";

/** The text of a file that somebody works on: units of work, and its mark. */
export function workText(version: number, mark: Mark | null = null): string {
  return mark === null ? String(version) : `${version} ${mark}`;
}

export function versionOf(text: string | undefined): number {
  return Number.parseInt(text ?? "0", 10);
}

export function markOf(text: string | undefined): Mark | null {
  return (["red", "hushed", "removed", "quiet"] as const).find((mark) => text?.endsWith(` ${mark}`)) ?? null;
}

export function flawOf(text: string | undefined): Flaw | null {
  const mark = markOf(text);
  return mark === "red" || mark === "hushed" ? mark : null;
}

/** What a task is judged by: its test, and the settings of the checker. Missing, they are strict. */
export type CheckText = "lax" | "fitting" | "moved";

export function checksOf(name: string): readonly string[] {
  return [`${name}.test`, `${name}.config`];
}

export function isCheckFile(name: string): boolean {
  return /\.(?:test|config)$/.test(name);
}

/** A file of which only the layout was changed. */
export function layoutOf(name: string): string {
  return `${name}.space`;
}
