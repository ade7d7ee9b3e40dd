import type { Random } from "../../src/eval/random.ts";
import { hostileText } from "./hostile-text.ts";

const ODD = [
  "\0",
  "\ufeff",
  "\ud800",
  "é",
  "\u001b[2J",
  "-1",
  "1e999",
  "null",
  "{}",
  "[]",
  '""',
  "../../x",
  "$(x)",
];
const CHANGES_MAX = 8;

/** A real text with one or more things wrong in it; JSON stays JSON half of the time. */
export function mutate(random: Random, seed: string): string {
  if (random.chance(0.5)) {
    const spoilt = lines(seed, random, (line) => [otherValue(random, line) ?? line]);
    return spoilt === seed ? (otherValue(random, seed) ?? spoilAnywhere(random, seed)) : spoilt;
  }
  return spoilAnywhere(random, seed);
}

function spoilAnywhere(random: Random, seed: string): string {
  let text = seed;
  const changes = random.chance(0.5) ? 1 : random.between(2, CHANGES_MAX);
  for (let left = changes; left > 0; left -= 1) text = random.pick(CHANGES)(text, random);
  return text;
}

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  0.5,
  "",
  "x".repeat(5_000),
  "\0",
  [],
  {},
  [[]],
  { a: {} },
];

/** JSON with another value somewhere in it, or without one; null for what is no JSON. */
function otherValue(random: Random, text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // then it is spoilt in other ways
  }
  return JSON.stringify(changed(random, value)) ?? "";
}

function changed(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random.chance(0.15)) return random.pick(ODD_VALUES);
  const entries = Object.entries(value);
  if (entries.length === 0) return random.pick(ODD_VALUES);
  const chosen = random.between(0, entries.length - 1);
  const isLost = random.chance(0.15);
  const after = entries.flatMap(([key, inner], index): [string, unknown][] => {
    if (index !== chosen) return [[key, inner]];
    return isLost ? [] : [[key, changed(random, inner)]];
  });
  return Array.isArray(value) ? after.map(([, inner]) => inner) : Object.fromEntries(after);
}

type Change = (text: string, random: Random) => string;

const CHANGES: readonly Change[] = [
  // Cut off, as by a process that died.
  (text, random) => text.slice(0, random.between(0, text.length)),
  (text, random) => at(text, random, (rest) => rest.slice(random.between(0, 20))),
  (text, random) => at(text, random, (rest) => random.pick(ODD) + rest),
  (text, random) => at(text, random, (rest) => String.fromCharCode(random.between(0, 255)) + rest.slice(1)),
  (text, random) => at(text, random, (rest) => hostileText(random, "small").slice(0, 200) + rest),
  // A line twice, or one that is missing.
  (text, random) => lines(text, random, (line) => [line, line]),
  (text, random) => lines(text, random, () => []),
  (text, random) => lines(text, random, (line) => [line.toUpperCase()]),
  // Another value where one of this kind stands.
  (text, random) =>
    text.replace(/-?\d+/, () => random.pick(["-1", "0", "1e999", "NaN", "9".repeat(400), "null"])),
  (text, random) =>
    at(text, random, (rest) =>
      rest.replace(/"[^"\n]*"/, () => random.pick(["null", "0", "[]", "{}", '""', '"\\ud800"'])),
    ),
  (text, random) =>
    at(text, random, (rest) => rest.replace(/[[{]/, (open) => open.repeat(random.between(2, 400)))),
];

function at(text: string, random: Random, change: (rest: string) => string): string {
  const place = random.between(0, text.length);
  return text.slice(0, place) + change(text.slice(place));
}

function lines(text: string, random: Random, change: (line: string) => readonly string[]): string {
  const all = text.split("\n");
  const chosen = random.between(0, all.length - 1);
  return all.flatMap((line, index) => (index === chosen ? change(line) : [line])).join("\n");
}
