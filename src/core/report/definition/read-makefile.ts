/** A rule or an assignment of a Makefile, with the conditions under which it holds. */
export interface MakeEntry {
  readonly is: "rule" | "variable" | "directive";
  /** The targets of a rule, or the variable's name. */
  readonly names: readonly string[];
  /** What the rule needs first. */
  readonly needs: readonly string[];
  /** Its lines; the recipe's too. */
  readonly lines: string[];
  readonly conditions: readonly string[];
}

/** More and longer ones do not occur, and would make the text long. */
const CONDITIONS_MAX = 10;
const CONDITION_LENGTH_MAX = 500;

export function readMakefile(text: string): readonly MakeEntry[] {
  const entries: MakeEntry[] = [];
  const conditions: string[] = [];
  /** What the next lines may belong to: a rule takes its recipe, `define` all up to its end. */
  let open: MakeEntry | null = null;
  let isDefining = false;
  /** Conditions since the last line of a recipe: part of it when it goes on. */
  let between: string[] = [];
  for (const line of logicalLines(text)) {
    if (isDefining) {
      open?.lines.push(line);
      isDefining = !/^ *endef\b/.test(line);
      continue;
    }
    if (line.startsWith("\t")) {
      for (const condition of between) open?.lines.push(condition);
      open?.lines.push(line);
      between = [];
      continue;
    }
    const words = line.replace(/(?<!\\)#.*$/s, "").trim();
    if (words === "") continue;
    if (CONDITIONAL.test(words)) {
      between.push(words);
      changeConditions(conditions, words);
      continue;
    }
    between = [];
    // Behind a semicolon there is a recipe, to which the sign of a comment may belong.
    const kept = words.includes(";") ? line.trim() : words;
    open = entryOf(words, { lines: [kept], conditions: conditions.slice(-CONDITIONS_MAX) });
    isDefining = /^(?:override )?define\b/.test(words);
    if (open !== null) entries.push(open);
  }
  return entries;
}

function* logicalLines(text: string): Generator<string> {
  let held: string[] = [];
  for (const line of text.split("\n")) {
    const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
    held.push(plain);
    if (plain.endsWith("\\")) continue;
    yield held.join("\n");
    held = [];
  }
  if (held.length > 0) yield held.join("\n");
}

const CONDITIONAL = /^(?:ifeq|ifneq|ifdef|ifndef|else|endif)\b/;

function changeConditions(conditions: string[], words: string): void {
  if (words.startsWith("endif")) conditions.pop();
  else if (!words.startsWith("else")) conditions.push(words.slice(0, CONDITION_LENGTH_MAX));
  else if (conditions.length > 0)
    conditions.push(`${words} after ${conditions.pop()}`.slice(0, CONDITION_LENGTH_MAX));
}

const VARIABLE =
  /^(?:(?:export|override|private) +)*(?:define +)?([^\s:#=+?!]+)\s*(?:=|:::?=|:=|\+=|\?=|!=)|^(?:override +)?define +(\S+)/;

function entryOf(words: string, entry: Pick<MakeEntry, "lines" | "conditions">): MakeEntry | null {
  const variable = VARIABLE.exec(words);
  if (variable !== null) {
    const name = variable[1] ?? variable[2] ?? "";
    return { is: "variable", names: [name], needs: [], ...entry };
  }
  if (/^(?:-?include|sinclude|export|unexport|vpath|load)\b/.test(words))
    return { is: "directive", names: [], needs: [], ...entry };
  const colon = words.indexOf(":");
  if (colon < 0) return null;
  const behind = words.slice(colon).replace(/^:+/, "").split(";", 1)[0] ?? "";
  const needs = /(?<![<>])[:+?!]?=/.test(behind) ? [] : namesIn(behind.replaceAll("|", " "));
  return { is: "rule", names: namesIn(words.slice(0, colon)), needs, ...entry };
}

function namesIn(text: string): readonly string[] {
  return text.split(/[\s\\]+/).filter((name) => name !== "");
}
