import type { FileVersions, Weakening, WeakeningKind } from "./find-weakened-tests.ts";
import { pairTests } from "./pair-tests.ts";
import { readTests, type Test, type TestFile } from "./read-tests.ts";
import { deletedSubjects, lostImport, subjectOf } from "./subject-of-tests.ts";
import { isTestFile } from "./test-files.ts";

interface ReadFile extends FileVersions {
  readonly was: TestFile;
  readonly is: TestFile;
  /** What it tested is gone, or it was a program that took its tests along. */
  readonly lostSubject: boolean;
}

/** What the tests of all these files together check less than before. */
export function compareTests(
  files: readonly FileVersions[],
  deletedPaths: readonly string[],
): readonly Weakening[] {
  const subjects = deletedSubjects(deletedPaths);
  const read = files.filter(isText).map((file) => readBoth(file, subjects));
  const byPath = new Map(read.map((file) => [file.path, file]));
  const { pairs, gone, added } = pairTests(
    read.flatMap(({ was }) => was.tests),
    read.flatMap(({ is }) => is.tests),
  );
  const hasFewerInTotal = sum(read.filter(({ lostSubject }) => !lostSubject).map(changeOfAssertions)) < 0;
  const found: Change[] = [];
  const helped = sum(read.map(({ was, is }) => is.helperAssertions - was.helperAssertions)) > 0;
  for (const [before, after] of pairs) {
    const file = byPath.get(after.path);
    const isExcused = hasNewTable(file) || hasNewTable(byPath.get(before.path));
    const kind = compareTest(before, after, { helped, isExcused, hasFewerInTotal });
    if (kind !== null) found.push({ path: after.path, kind, before, after });
  }
  for (const before of missing(byPath, gone, added, hasFewerInTotal))
    found.push({ path: before.path, kind: "deleted", before });
  const changed = Map.groupBy(found, ({ path }) => path);
  return read.flatMap((file) => {
    const changes = changed.get(file.path) ?? [];
    return [
      ...describeChanges(file, changes),
      ...focusOf(file),
      ...lostInHelpers(file, changes, hasFewerInTotal),
    ];
  });
}

interface Change {
  readonly path: string;
  readonly kind: WeakeningKind;
  readonly before: Test;
  readonly after?: Test;
}

/** Of others only a deletion is seen. */
function isText({ before, after }: FileVersions): boolean {
  return after === null || before === null || !before.includes("\0");
}

function readBoth(file: FileVersions, subjects: ReadonlySet<string>): ReadFile {
  const { path, before, after } = file;
  const isProgram = after === null && !isTestFile(path);
  const lostSubject =
    isProgram ||
    (after === null && subjects.has(subjectOf(path))) ||
    (before !== null && lostImport(before, after, subjects));
  return { ...file, was: readTests(path, before), is: readTests(path, after), lostSubject };
}

/** A file without tests may take assertions over; that it loses some says nothing. */
function changeOfAssertions({ was, is }: ReadFile): number {
  const change = is.assertions - was.assertions;
  return was.tests.length === 0 ? Math.max(0, change) : change;
}

interface Circumstances {
  /** More is asserted in functions that tests call. */
  readonly helped: boolean;
  readonly isExcused: boolean;
  readonly hasFewerInTotal: boolean;
}

function compareTest(before: Test, after: Test, around: Circumstances): WeakeningKind | null {
  if (before.skip === null && after.skip !== null) return "skipped";
  if (!before.isEmpty && after.isEmpty) return "emptied";
  if (after.assertions >= before.assertions) return null;
  if (after.trivialAssertions > before.trivialAssertions) return "trivial";
  if (around.helped || around.isExcused) return null;
  if (after.assertions === 0) return "emptied";
  return around.hasFewerInTotal && after.wholes <= before.wholes ? "fewer-assertions" : null;
}

/** Those that nothing new stands for: no renamed test, and no table of cases. */
function missing(
  byPath: ReadonlyMap<string, ReadFile>,
  gone: readonly Test[],
  added: readonly Test[],
  hasFewerInTotal: boolean,
): readonly Test[] {
  const goneBySubject = Map.groupBy(gone, ({ path }) => subjectOf(path));
  const replacements = Map.groupBy(
    added.filter(({ skip, isEmpty }) => skip === null && !isEmpty),
    ({ path }) => subjectOf(path),
  );
  const readBySubject = Map.groupBy(byPath.values(), ({ path }) => subjectOf(path));
  const isReplaced = (subject: string): boolean => {
    const [lost, found] = [goneBySubject.get(subject) ?? [], replacements.get(subject) ?? []];
    const related = readBySubject.get(subject) ?? [];
    if (found.length > 0 && related.some(hasNewTable)) return true;
    return found.length >= lost.length && (!hasFewerInTotal || sum(related.map(changeOfAssertions)) >= 0);
  };
  const replaced = new Set([...goneBySubject.keys()].filter(isReplaced));
  return gone.filter(
    ({ path, skip, isEmpty }) =>
      skip === null && !isEmpty && byPath.get(path)?.lostSubject !== true && !replaced.has(subjectOf(path)),
  );
}

function hasNewTable(file: ReadFile | undefined): boolean {
  return file !== undefined && file.is.tables > file.was.tables;
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

function describeChanges({ path, was, after }: ReadFile, changes: readonly Change[]): readonly Weakening[] {
  const found: Weakening[] = [];
  for (const [kind, same] of Map.groupBy(changes, (change) => change.kind)) {
    if (kind === "configuration") continue;
    if (kind === "deleted" && after === null && same.length === was.tests.length) {
      found.push({ path, kind, what: `the file with ${count(same.length, "test")} is gone` });
    } else if (same.length > NAMED_MAX) {
      const first = same[0] === undefined ? "" : nameOf(same[0].before);
      found.push({ path, kind, what: `${same.length} tests ${SENTENCES[kind][1]}, the first is ${first}` });
    } else
      found.push(...same.map((change) => ({ path, kind, what: describeOne(change, SENTENCES[kind][0]) })));
  }
  return found;
}

function describeOne({ kind, before, after }: Change, sentence: string): string {
  const test = `the test ${nameOf(before)}`;
  if (kind === "fewer-assertions" && after !== undefined)
    return `${count(before.assertions, "assertion")} became ${after.assertions} in ${test}`;
  if (kind === "skipped" && after?.skip === "failing") return `${test} is expected to fail now`;
  return `${test} ${sentence}`;
}

function nameOf({ name }: Test): string {
  return `"${name.replaceAll(/\s+/g, " ").slice(0, NAME_LENGTH_MAX).toWellFormed()}"`;
}

function focusOf({ path, was, is }: ReadFile): readonly Weakening[] {
  const [name] = is.focused;
  if (name === undefined || is.focused.length <= was.focused.length) return [];
  return [
    { path, kind: "skipped", what: `only "${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}" runs now` },
  ];
}

/** Assertions outside of tests, in functions that tests call. */
function lostInHelpers(
  file: ReadFile,
  changes: readonly Change[],
  hasFewerInTotal: boolean,
): readonly Weakening[] {
  const { path, was, is, after } = file;
  const isExplained = changes.length > 0 || file.lostSubject || after === null || hasNewTable(file);
  const hasLost = is.helperAssertions < was.helperAssertions && is.assertions < was.assertions;
  if (isExplained || !hasFewerInTotal || !hasLost || was.tests.length === 0) return [];
  const what = `${count(was.assertions, "assertion")} became ${is.assertions}`;
  return [{ path, kind: "fewer-assertions", what }];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
