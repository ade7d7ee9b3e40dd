import { type Change, count, describeChanges, describeFile, type Versions } from "./describe-changes.ts";
import type { FileVersions, Weakening, WeakeningKind } from "./find-weakened-tests.ts";
import { type Pairing, pairTests } from "./pair-tests.ts";
import { readTests, type Test } from "./read-tests.ts";
import { deletedSubjects, lostImport, subjectOf } from "./subject-of-tests.ts";
import { isTestFile } from "./test-files.ts";

interface ReadFile extends FileVersions, Versions {
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
  const change = sum(read.filter(({ lostSubject }) => !lostSubject).map(changeOfAssertions));
  const hasFewerInTotal = change < 0;
  const hasFewerCases = change + changeOfCases(pairs, added) < 0;
  const found: Change[] = [];
  const helped = sum(read.map(({ was, is }) => is.helperAssertions - was.helperAssertions)) > 0;
  for (const [before, after] of pairs) {
    const file = byPath.get(after.path);
    const isExcused = hasNewTable(file) || hasNewTable(byPath.get(before.path)) || file?.lostSubject === true;
    const kind = compareTest(before, after, { helped, isExcused, hasFewerInTotal, hasFewerCases });
    if (kind !== null) found.push({ path: after.path, kind, before, after });
  }
  for (const before of missing(byPath, { pairs, gone, added }, hasFewerInTotal))
    found.push({ path: before.path, kind: "deleted", before });
  const changed = Map.groupBy(found, ({ path }) => path);
  return read.flatMap((file) => {
    const changes = changed.get(file.path) ?? [];
    return [
      ...describeChanges(file, changes),
      ...describeFile(file),
      ...lostInHelpers(file, changes, hasFewerInTotal),
    ];
  });
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
  readonly hasFewerCases: boolean;
}

const RESTRICTION = { none: 0, conditional: 1, skipped: 2, failing: 2 } as const;

function compareTest(before: Test, after: Test, around: Circumstances): WeakeningKind | null {
  if (RESTRICTION[after.skip ?? "none"] > RESTRICTION[before.skip ?? "none"]) return "skipped";
  if (isTurnedRound(before, after)) return "skipped";
  if (!before.isEmpty && after.isEmpty) return "emptied";
  if (after.assertions >= before.assertions)
    return hasFewerCases(before, after, around) ? "fewer-assertions" : null;
  if (after.trivialAssertions > before.trivialAssertions) return "trivial";
  if (around.helped || around.isExcused) return null;
  if (after.assertions === 0) return "emptied";
  return around.hasFewerInTotal && after.wholes <= before.wholes ? "fewer-assertions" : null;
}

/** The same assertions, which are to fail now. */
function isTurnedRound(before: Test, after: Test): boolean {
  const isSame = before.checks.length > 0 && before.fingerprint === after.fingerprint;
  return isSame && !before.isToPanic && after.isToPanic;
}

function hasFewerCases(before: Test, after: Test, around: Circumstances): boolean {
  const isLess = after.cases * after.assertions < before.cases * before.assertions;
  return around.hasFewerCases && !around.isExcused && after.cases > 0 && after.cases < before.cases && isLess;
}

/** Only where both say how many they have. */
function changeOfCases(pairs: Pairing["pairs"], added: readonly Test[]): number {
  const known = pairs.filter(([before, after]) => before.cases > 0 && after.cases > 0);
  return (
    sum(known.map(([before, after]) => after.cases - before.cases)) + sum(added.map(({ cases }) => cases))
  );
}

/** Those that nothing new stands for: no renamed test, and no table of cases. */
function missing(
  byPath: ReadonlyMap<string, ReadFile>,
  { pairs, gone, added }: Pairing,
  hasFewerInTotal: boolean,
): readonly Test[] {
  const goneBySubject = Map.groupBy(gone, ({ path }) => subjectOf(path));
  const replacements = Map.groupBy(added.filter(isRunning), ({ path }) => subjectOf(path));
  const readBySubject = Map.groupBy(byPath.values(), ({ path }) => subjectOf(path));
  const isReplaced = (subject: string): boolean => {
    const [lost, found] = [goneBySubject.get(subject) ?? [], replacements.get(subject) ?? []];
    const related = readBySubject.get(subject) ?? [];
    if (found.length > 0 && related.some(hasNewTable)) return true;
    if (hasFewerInTotal && sum(related.map(changeOfAssertions)) < 0) return false;
    const least = Math.max(1, assertionsIn(lost.filter(isRunning)));
    const isMerged = assertionsIn(found) >= least;
    return hasAsMany(found, lost) || isMerged;
  };
  const replaced = new Set([...goneBySubject.keys()].filter(isReplaced));
  const kept = newChecks(pairs, added);
  return gone.filter(
    (test) =>
      isRunning(test) &&
      byPath.get(test.path)?.lostSubject !== true &&
      !replaced.has(subjectOf(test.path)) &&
      !(test.checks.length > 0 && test.checks.every((one) => kept.has(one))),
  );
}

function isRunning({ skip, isEmpty }: Test): boolean {
  return (skip === null || skip === "conditional") && !isEmpty;
}

/** What runs only under a condition does not stand for what always ran. */
function hasAsMany(found: readonly Test[], lost: readonly Test[]): boolean {
  const always = ({ skip }: Test): boolean => skip === null;
  return found.length >= lost.length && found.filter(always).length >= lost.filter(always).length;
}

/** Assertions that a test did not have before: one that is gone may have been merged into it. */
function newChecks(pairs: Pairing["pairs"], added: readonly Test[]): ReadonlySet<string> {
  const found = new Set(added.filter(isRunning).flatMap(({ checks }) => checks));
  for (const [before, after] of pairs) {
    const known = new Set(before.checks);
    if (isRunning(after)) for (const one of after.checks) if (!known.has(one)) found.add(one);
  }
  return found;
}

function assertionsIn(tests: readonly Test[]): number {
  return sum(tests.map(({ assertions }) => assertions));
}

function hasNewTable(file: ReadFile | undefined): boolean {
  return file !== undefined && file.is.tables > file.was.tables;
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
