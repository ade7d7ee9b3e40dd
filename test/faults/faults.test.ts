import { describe, expect, test } from "vitest";
import { FAULTS } from "./faults.ts";
import { suffer } from "./suffer.ts";
import { TROUBLES } from "./troubles.ts";

/** `npm run faults` has them all. */
describe("a clear sentence, the right exit code, nothing lost, and the next run goes on:", () => {
  test.each(FAULTS.filter(({ isQuick }) => isQuick === true))("$name", async (fault) => {
    expect(await suffer(fault)).toEqual([]);
  });

  test.each(TROUBLES.filter(({ isQuick }) => isQuick === true))("$name", async ({ meet }) => {
    expect(await meet()).toEqual([]);
  });
});
