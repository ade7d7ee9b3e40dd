import { readRests } from "./read-rests.ts";

type Scripts = Readonly<Record<string, unknown>>;

/** Patterns that are looked up; each goes over all scripts. */
const PATTERNS_MAX = 100;

/**
 * A script of a package.json with those that npm runs before and after it and those that any of them calls; null
 * when it is not there. It is a shell text: each script below a comment with its name.
 */
export function npmDefinition(packageJson: string, script: string): string | null {
  const scripts = scriptsOf(packageJson);
  if (scripts === null) return null;
  const lookUp = createLookUp(scripts);
  const queue = [...lookUp(script)];
  if (queue.length === 0) return null;
  const seen = new Set(queue);
  const lines: string[] = [];
  for (let name = queue[0], next = 1; name !== undefined; name = queue[next], next += 1) {
    for (const part of [`pre${name}`, name, `post${name}`]) {
      const command = commandOf(scripts, part);
      if (command === null) continue;
      // Indented, so that no line of a script passes for the name of another one.
      lines.push(`# ${JSON.stringify(part)}`, `  ${command.replaceAll("\n", "\n  ")}`);
      for (const called of calledBy(command).flatMap(lookUp)) {
        if (seen.has(called)) continue;
        seen.add(called);
        queue.push(called);
      }
    }
  }
  return lines.join("\n");
}

function scriptsOf(packageJson: string): Scripts | null {
  try {
    const parsed: unknown = JSON.parse(packageJson.replace(/^\uFEFF/, ""));
    const scripts = isRecord(parsed) ? parsed["scripts"] : null;
    return isRecord(scripts) ? scripts : null;
  } catch {
    return null; // npm cannot read it either
  }
}

function isRecord(value: unknown): value is Scripts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function commandOf(scripts: Scripts, name: string): string | null {
  const command = Object.hasOwn(scripts, name) ? scripts[name] : null;
  return typeof command === "string" ? command : null;
}

/** The scripts that a name stands for: one, or all that fit a pattern such as `test:*`. */
function createLookUp(scripts: Scripts): (wanted: string) => readonly string[] {
  let patterns = 0;
  return (wanted) => {
    if (commandOf(scripts, wanted) !== null) return [wanted];
    if (!wanted.includes("*") || patterns >= PATTERNS_MAX) return [];
    patterns += 1;
    const start = wanted.slice(0, wanted.indexOf("*"));
    const end = wanted.slice(wanted.lastIndexOf("*") + 1);
    return Object.keys(scripts).filter(
      (name) =>
        name.length >= start.length + end.length &&
        name.startsWith(start) &&
        name.endsWith(end) &&
        commandOf(scripts, name) !== null,
    );
  };
}

/** The scripts of the same package that a script names. */
function calledBy(command: string): readonly string[] {
  return [...readRests(command, "")].flatMap((rest) =>
    rest.is === "npm-script" && rest.path === "package.json" ? [rest.script] : [],
  );
}
