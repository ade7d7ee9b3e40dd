/** A key of a later version, as it will be: `*` stands for any name or number. */
interface UpcomingKey {
  readonly type: string;
  /** As it would stand in the file; absent when there is none. */
  readonly default?: string;
}

/**
 * Keys that are promised and do nothing yet. Each is refused by its own name, since a brake that is written down
 * and does not brake is worse than none. A key leaves this list when `schema.ts` gets it.
 */
export const UPCOMING_KEYS: Readonly<Record<string, UpcomingKey>> = {
  "logs.keep_days": { type: "whole number", default: "30" },
  "notify.desktop": { type: "true or false", default: "false" },
  "notify.webhook": { type: "text", default: '""' },
  "notify.command": { type: "text", default: '""' },
};

/** The same tree without upcoming keys that only say what holds anyway: their default. */
export function withoutUpcomingDefaults(value: unknown, path: readonly string[] = []): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => withoutUpcomingDefaults(item, [...path, String(index)]));
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const here = [...path, name];
    if (isUpcomingDefault(here, inner)) continue;
    const left = withoutUpcomingDefaults(inner, here);
    // A section of which nothing is left said nothing new.
    if (isTable(inner) && isTable(left) && Object.keys(inner).length > 0 && Object.keys(left).length === 0)
      continue;
    kept.push([name, left]);
  }
  return Object.fromEntries(kept);
}

function isUpcomingDefault(path: readonly string[], value: unknown): boolean {
  const key = Object.entries(UPCOMING_KEYS).find(([name]) => matches(name.split("."), path))?.[1];
  if (key?.default === undefined) return false;
  const written: unknown = JSON.parse(key.default);
  return JSON.stringify(value) === JSON.stringify(written);
}

function matches(key: readonly string[], path: readonly string[]): boolean {
  return key.length === path.length && key.every((step, index) => step === "*" || step === path[index]);
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The name of the upcoming key that stands at a path, or below it in a section that is all upcoming; null when
 * there is none.
 */
export function upcomingKey(path: readonly PropertyKey[], value: unknown): readonly string[] | null {
  const steps = path.map(String);
  const known = Object.keys(UPCOMING_KEYS).map((key) => key.split("."));
  const ahead = known.filter((key) =>
    steps.every((step, index) => key[index] === step || key[index] === "*"),
  );
  if (ahead.length === 0) return null;
  if (ahead.some((key) => key.length === steps.length)) return steps;
  if (typeof value !== "object" || value === null) return steps;
  for (const [name, inner] of Object.entries(value)) {
    const below = upcomingKey([...steps, name], inner);
    if (below !== null) return below;
  }
  return steps;
}

/** The upcoming key that a variable would set. */
export function upcomingKeyOfVariable(name: string): string | null {
  const keys = Object.keys(UPCOMING_KEYS).filter((key) => !key.includes("*"));
  return keys.find((key) => `RALPH_${key.replaceAll(".", "_").toUpperCase()}` === name) ?? null;
}
