import type { Files } from "./branches.ts";

/** The task source where it is a file of the repository: a line a task. */
export const CHECKLIST = "TODO.md";

export function withLine(text: string | undefined, id: string): string {
  return `${text ?? ""}[ ] ${id}\n`;
}

export function withMark(text: string, id: string, isDone: boolean): string {
  const [before, after] = isDone ? ["[ ]", "[x]"] : ["[x]", "[ ]"];
  return text.replace(`${before} ${id}\n`, `${after} ${id}\n`);
}

export function idsIn(files: Files): readonly string[] {
  return linesIn(files).map((line) => line.slice(4));
}

export function marksIn(files: Files): readonly string[] {
  return linesIn(files)
    .filter((line) => line.startsWith("[x]"))
    .map((line) => line.slice(4));
}

function linesIn(files: Files): readonly string[] {
  return (files.get(CHECKLIST) ?? "").split("\n").filter((line) => line !== "");
}
