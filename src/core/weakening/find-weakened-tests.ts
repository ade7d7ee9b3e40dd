import { compareConfigurations } from "./compare-configurations.ts";
import { compareTests } from "./compare-tests.ts";
import { isTestConfiguration } from "./test-files.ts";

/** A file before and after the agent; null where it does not exist. */
export interface FileVersions {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** One way in which tests check less than before. */
export interface Weakening {
  readonly path: string;
  readonly kind: WeakeningKind;
  /** The end of a sentence about the file. */
  readonly what: string;
  /** What all the tests called that are gone. */
  readonly calls?: readonly string[];
}

export type WeakeningKind =
  "deleted" | "skipped" | "emptied" | "fewer-assertions" | "trivial" | "configuration";

const WEAKENINGS_MAX = 20;

/**
 * Finds tests that were deleted, skipped, emptied or weakened. `files`: every changed file for which `mayHoldTests(path)`
 * is true. `deletedPaths`: all paths that the change set deleted, tests or not. At most 20 results, ordered by path.
 */
export function findWeakenedTests(
  files: readonly FileVersions[],
  deletedPaths: readonly string[],
): readonly Weakening[] {
  const tests = files.filter(({ path }) => !isTestConfiguration(path));
  return [...compareTests(tests, deletedPaths), ...compareConfigurations(files)]
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .slice(0, WEAKENINGS_MAX);
}
