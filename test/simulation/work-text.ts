/** What is wrong with a file: the project's check fails because of it, or would if tests were not weakened. */
export type Flaw = "red" | "hidden";

/** The text of a file that somebody works on: units of work, and its flaw. */
export function workText(version: number, flaw: Flaw | null = null): string {
  return flaw === null ? String(version) : `${version} ${flaw}`;
}

export function versionOf(text: string | undefined): number {
  return Number.parseInt(text ?? "0", 10);
}

export function flawOf(text: string | undefined): Flaw | null {
  if (text?.endsWith(" red")) return "red";
  return text?.endsWith(" hidden") ? "hidden" : null;
}
