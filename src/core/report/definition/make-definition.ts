import { readMakefile, type MakeEntry } from "./read-makefile.ts";
import { readRests } from "./read-rests.ts";

/**
 * The rules of a target of a Makefile and of what it needs, with the variables in them and what holds for the
 * whole file; null when there is no such target.
 */
export function makeDefinition(makefile: string, target: string): string | null {
  const entries = readMakefile(makefile);
  const rules = byName(entries, "rule");
  const variables = byName(entries, "variable");
  const goals = target === "" ? defaultGoals(entries, variables) : [target];
  if (!goals.some((goal) => rules.has(goal))) return null;
  const queue: Wanted[] = [
    ...goals.map((name): Wanted => ({ is: "rule", name })),
    ...HOLDS_ALWAYS.map((name): Wanted => ({ is: "variable", name })),
  ];
  const seen = new Set(queue.map(keyOf));
  const taken = new Set(entries.filter(isAlwaysTaken));
  for (let wanted = queue[0], next = 1; wanted !== undefined; wanted = queue[next], next += 1) {
    for (const entry of (wanted.is === "rule" ? rules : variables).get(wanted.name) ?? []) {
      if (taken.has(entry)) continue;
      taken.add(entry);
      for (const needed of neededBy(entry)) {
        if (seen.has(keyOf(needed))) continue;
        seen.add(keyOf(needed));
        queue.push(needed);
      }
    }
  }
  const phony = new Set((rules.get(".PHONY") ?? []).flatMap(({ needs }) => needs));
  const isPhony = queue.filter(({ is, name }) => is === "rule" && phony.has(name)).map(({ name }) => name);
  return [...entries.filter((entry) => taken.has(entry)).map(textOf), `.PHONY: ${isPhony.join(" ")}`].join(
    "\n",
  );
}

interface Wanted {
  readonly is: "rule" | "variable";
  readonly name: string;
}

const HOLDS_ALWAYS = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", ".RECIPEPREFIX"];

function keyOf({ is, name }: Wanted): string {
  return `${is} ${name}`;
}

/** What is exported or included can change any rule. */
function isAlwaysTaken({ is, names, lines }: MakeEntry): boolean {
  if (is === "directive") return true;
  if (is === "variable") return /^(?:override +)?export\b/.test(lines[0] ?? "");
  return names.includes(".IGNORE") || names.includes(".ONESHELL");
}

function byName(
  entries: readonly MakeEntry[],
  is: MakeEntry["is"],
): ReadonlyMap<string, readonly MakeEntry[]> {
  const found = new Map<string, MakeEntry[]>();
  for (const entry of entries) {
    if (entry.is !== is) continue;
    for (const name of entry.names) {
      const others = found.get(name);
      if (others === undefined) found.set(name, [entry]);
      else others.push(entry);
    }
  }
  return found;
}

function defaultGoals(
  entries: readonly MakeEntry[],
  variables: ReadonlyMap<string, readonly MakeEntry[]>,
): readonly string[] {
  const chosen = variables.get(".DEFAULT_GOAL")?.at(-1)?.lines[0]?.split("=").at(-1)?.trim();
  if (chosen !== undefined) return [chosen];
  const rule = entries.find(({ is, names }) => is === "rule" && /^(?!\.[^/]*$)[^%]*$/.test(names[0] ?? "."));
  return rule?.names.slice(0, 1) ?? [];
}

const VARIABLE_USE = /\$[({](?:call )?([\w.-]{1,200})[)},:]/g;

function* neededBy(entry: MakeEntry): Generator<Wanted> {
  for (const name of entry.needs) yield { is: "rule", name };
  for (const line of entry.lines) {
    // `check: $(STEPS)` needs what the variable names.
    if (entry.is === "variable") for (const name of line.split(/[\s\\=]+/)) yield { is: "rule", name };
    for (const [, name = ""] of line.matchAll(VARIABLE_USE)) yield { is: "variable", name };
    if (!line.startsWith("\t") || (!line.includes("make") && !line.includes("MAKE"))) continue;
    const command = line
      .trimStart()
      .replace(/^[@+-]+/, "")
      .replaceAll(/\$[({]MAKE[)}]/g, "make");
    for (const rest of readRests(command, ""))
      if (rest.is === "make-target" && rest.path === "Makefile") yield { is: "rule", name: rest.target };
  }
}

function textOf({ conditions, lines }: MakeEntry): string {
  return [...conditions, ...lines].join("\n");
}
