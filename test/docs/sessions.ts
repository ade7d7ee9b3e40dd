import { expect } from "vitest";
import { stableScreen } from "../fixtures/stable-screen.ts";
import { allBlocks } from "./code-blocks.ts";
import type { Screen } from "./play-project.ts";

/** One line of a `console` block: what is typed after `$ `, and what the page shows below it. */
export interface Typed {
  readonly line: string;
  /** Empty when the page does not show it. */
  readonly shown: string;
}

/** Everything that is typed on a page, in order. */
export function sessionOf(page: string): readonly Typed[] {
  const blocks = allBlocks("console").filter((block) => block.page === page);
  const parts = blocks.flatMap(({ text }) => text.split(/^\$ /m)).filter((part) => part !== "");
  return parts.map((part) => {
    const [line = "", ...shown] = part.trimEnd().split("\n");
    return { line, shown: shown.join("\n") };
  });
}

/** A line `…` stands for any lines. What shows nothing must succeed. */
export function expectShown(page: string, { line, shown }: Typed, screen: Screen | undefined): void {
  const context = `${page}: $ ${line}`;
  if (screen === undefined) throw new Error(`${context} was never reached`);
  const [seen, wanted] = [tidied(screen.text), tidied(shown)];
  if (shown === "") expect({ context, seen, exitCode: screen.exitCode }).toMatchObject({ exitCode: 0 });
  else if (!patternOf(wanted).test(seen)) expect(`${context}\n${seen}`).toBe(`${context}\n${wanted}`);
}

/** On a terminal lines have no time in front, and blank lines at the ends do not count. */
function tidied(screen: string): string {
  return stableScreen(screen.replaceAll(/^\d\d:\d\d:\d\d /gm, ""))
    .replaceAll(/(?<= asks, for ).*?(?= now:)/g, "<duration>")
    .replaceAll(/[ \t]+$/gm, "")
    .trim();
}

function escaped(line: string): string {
  return line.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function patternOf(shown: string): RegExp {
  const lines = shown.split("\n").map((line) => (line === "…" ? String.raw`(?:.*\n)*?.*` : escaped(line)));
  return new RegExp(`^${lines.join(String.raw`\n`)}$`);
}
