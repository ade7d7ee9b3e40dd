import type { Task } from "../plan/task.ts";

/** How much work a task looks like, from least to most. */
export type Complexity = "simple" | "medium" | "complex" | "ui_heavy";

export interface ComplexityLevel {
  /** What the timeout of the mode is multiplied with. */
  readonly multiplier: number;
  /** Words, or several words in a row, that a task of this level has. */
  readonly keywords: readonly string[];
}

export const DEFAULT_COMPLEXITY: Readonly<Record<Complexity, ComplexityLevel>> = {
  simple: { multiplier: 1, keywords: ["fix", "update", "refactor", "add"] },
  medium: { multiplier: 1.5, keywords: ["test", "mock", "fixture"] },
  complex: { multiplier: 2, keywords: ["CLI", "command", "parser"] },
  ui_heavy: { multiplier: 3, keywords: ["UI", "View", "Chart", "Dashboard", "SwiftUI"] },
};

const HIGHEST_FIRST: readonly Complexity[] = ["ui_heavy", "complex", "medium", "simple"];
const MANY_CRITERIA = 4;

/**
 * By the words of a task: the highest level that has one of its keywords, whatever the multipliers are, and one
 * more when there is much to accept.
 */
export function complexityOf(
  task: Pick<Task, "title" | "description" | "criteria">,
  levels: Readonly<Record<Complexity, ComplexityLevel>>,
): Complexity {
  const known = KNOWN.get(task);
  if (known?.levels === levels) return known.complexity;
  const complexity = measure(task, levels);
  KNOWN.set(task, { levels, complexity });
  return complexity;
}

/** Every view of every task asks; a task and the levels of a run stay the same. */
const KNOWN = new WeakMap<object, { readonly levels: object; readonly complexity: Complexity }>();

function measure(
  task: Pick<Task, "title" | "description" | "criteria">,
  levels: Readonly<Record<Complexity, ComplexityLevel>>,
): Complexity {
  const texts = [task.title, task.description, ...task.criteria].map((text) => text.normalize("NFC"));
  const found = HIGHEST_FIRST.find((level) => mentionsAny(texts, levels[level].keywords)) ?? "medium";
  return task.criteria.length < MANY_CRITERIA ? found : oneUp(found);
}

function mentionsAny(texts: readonly string[], keywords: readonly string[]): boolean {
  const patterns = keywords.map(patternOf).filter((pattern) => pattern !== "");
  if (patterns.length === 0) return false;
  const words = `(?:${patterns.join("|")})`;
  const any = new RegExp(words, "iu");
  const suspects = texts.filter((text) => any.test(text));
  // Most tasks have none, and the letters of all languages take long to compile.
  return suspects.some((text) => wholeWords(words).test(text));
}

/** `\b` knows no letters but ASCII. */
function wholeWords(words: string): RegExp {
  return new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}_])${words}(?![\p{L}\p{M}\p{N}_])`, "iu");
}

/** The keyword taken literally, except that its words may be any white space apart. */
function patternOf(keyword: string): string {
  const literal = keyword.normalize("NFC").replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return literal.trim().replaceAll(/\s+/g, String.raw`\s+`);
}

function oneUp(level: Complexity): Complexity {
  return HIGHEST_FIRST[HIGHEST_FIRST.indexOf(level) - 1] ?? level;
}
