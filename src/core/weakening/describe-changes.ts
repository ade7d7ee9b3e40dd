import type { Weakening, WeakeningKind } from "./find-weakened-tests.ts";
import type { Test, TestFile } from "./read-tests.ts";

/** How one test checks less. */
export interface Change {
  readonly path: string;
  readonly kind: WeakeningKind;
  readonly before: Test;
  readonly after?: Test;
}

/** A file with its tests before and after. */
export interface Versions {
  readonly path: string;
  readonly after: string | null;
  readonly was: TestFile;
  readonly is: TestFile;
}

/** The sentences about the tests of a file: one for each, or one for many of a kind. */
export function describeChanges(
  { path, was, after }: Versions,
  changes: readonly Change[],
): readonly Weakening[] {
  const found: Weakening[] = [];
  for (const [kind, same] of Map.groupBy(changes, (change) => change.kind)) {
    if (kind === "configuration") continue;
    const say = (what: string, about: readonly Change[]): void => {
      const calls = kind === "deleted" ? callsOfAll(about) : [];
      found.push(calls.length === 0 ? { path, kind, what } : { path, kind, what, calls });
    };
    const first = same[0] === undefined ? "" : nameOf(same[0].before);
    if (kind === "deleted" && after === null && same.length === was.tests.length)
      say(`the file with ${count(same.length, "test")} is gone`, same);
    else if (same.length > NAMED_MAX)
      say(`${same.length} tests ${SENTENCES[kind][1]}, the first is ${first}`, same);
    else for (const change of same) say(describeOne(change, SENTENCES[kind][0]), [change]);
  }
  return found;
}

const CALLS_MAX = 20;
const CALL = /(?:assert(?!_|[A-Z])|await|return|not|yield)*([A-Za-z_]\w{0,60})!?\(/g;
const OF_TESTS =
  /^(?:expect|assert\w*|to[A-Z]\w*|\w*[eE]qual\w*|ok|it|test|describe|require|raises|throws|rejects|function|if|for|while|print|panic|Errorf?|Fatalf?)$/;

/** What each of these tests calls: what they are about, as far as a reader can say. */
function callsOfAll(changes: readonly Change[]): readonly string[] {
  const [first = [], ...others] = changes.map(({ before }) =>
    Array.from(before.fingerprint.matchAll(CALL), ([, name = ""]) => name).filter(
      (name) => name.length > 1 && !OF_TESTS.test(name),
    ),
  );
  const sets = others.map((names) => new Set(names));
  return [...new Set(first)].filter((name) => sets.every((one) => one.has(name))).slice(0, CALLS_MAX);
}

const NAMED_MAX = 3;
const NAME_LENGTH_MAX = 100;

const SENTENCES: Readonly<
  Record<Exclude<WeakeningKind, "configuration">, readonly [one: string, many: string]>
> = {
  deleted: ["is gone", "are gone"],
  skipped: ["is skipped now", "are skipped now"],
  emptied: ["checks nothing any more", "check nothing any more"],
  trivial: ["compares constants now", "compare constants now"],
  "fewer-assertions": ["checks less", "check less"],
};

function describeOne({ kind, before, after }: Change, sentence: string): string {
  const test = `the test ${nameOf(before)}`;
  if (kind === "fewer-assertions" && after !== undefined && after.assertions >= before.assertions)
    return `${count(before.cases, "case")} became ${after.cases} in ${test}`;
  if (kind === "fewer-assertions" && after !== undefined)
    return `${count(before.assertions, "assertion")} became ${after.assertions} in ${test}`;
  if (kind !== "skipped") return `${test} ${sentence}`;
  if (after?.skip === "failing" || after?.skip === null) return `${test} is expected to fail now`;
  if (after?.skip === "conditional") return `${test} runs only under a condition now`;
  return `${test} ${sentence}`;
}

function nameOf({ name }: Test): string {
  return `"${name.replaceAll(/\s+/g, " ").slice(0, NAME_LENGTH_MAX).toWellFormed()}"`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The sentences about what a file does to all of its tests, or to those around it. */
export function describeFile({ path, was, is }: Versions): readonly Weakening[] {
  const found: Weakening[] = [];
  const [name] = is.focused;
  if (name !== undefined && is.focused.length > was.focused.length)
    found.push({
      path,
      kind: "skipped",
      what: `only "${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}" runs now`,
    });
  // Go has one such function for a whole package, in a file of its own.
  if (is.exits > was.exits && (was.tests.length > 0 || path.endsWith(".go")))
    found.push({ path, kind: "skipped", what: "it ends as if all tests had passed" });
  const stub = is.stubs.find((one) => !was.stubs.includes(one));
  if (stub !== undefined && was.tests.length > 0)
    found.push({ path, kind: "emptied", what: `${stub} does nothing in it any more` });
  return found;
}
