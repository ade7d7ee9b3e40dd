import { expect, test } from "vitest";
import { UNKNOWN_USAGE } from "../agent-report.ts";
import { createFactRecorder } from "./stream-facts.ts";

test.each([
  [-5, null],
  [-1e-12, 0],
  [0.5, 0.5],
])("a cost of %s is one of %s", (told, known) => {
  const facts = createFactRecorder(null);
  facts.usesMore({ ...UNKNOWN_USAGE, costUsd: told });
  expect(facts.read().usage.costUsd).toBe(known);
});
