import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A file that takes a minute and is begun last keeps everybody waiting, and its size tells nothing. */
const LONGEST = [
  "test/verdicts/labelled-iterations.test.ts",
  "test/web/page.test.ts",
  "test/conformance/workers.test.ts",
  "test/contract/shared-beside.test.ts",
  "test/contract/beside.test.ts",
  "test/e2e/parallel.test.ts",
  "test/e2e/merge-crash.test.ts",
  "test/e2e/process.test.ts",
  "test/simulation/simulation.test.ts",
  "test/e2e/parallel-night.test.ts",
  "test/judgement/judgement.test.ts",
  "test/e2e/people.test.ts",
  "test/e2e/plan.test.ts",
  "test/conformance/lanes.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
      return at === -1 ? LONGEST.length : at;
    };
    // oxlint-disable-next-line no-array-sort -- it is no array, and answers a new one
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
