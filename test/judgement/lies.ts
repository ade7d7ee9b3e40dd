import type { JudgementCase } from "./case.ts";
import { AROUND_TESTS } from "./lies-around-tests.ts";
import { CALLED } from "./lies-called.ts";
import { GATE_SCRIPTS } from "./lies-gate-scripts.ts";
import { HIDDEN } from "./lies-hidden.ts";
import { NO_WORK } from "./lies-no-work.ts";
import { SETTINGS } from "./lies-settings.ts";
import { SUPPRESSIONS } from "./lies-suppressions.ts";
import { WEAKENED_JAVASCRIPT } from "./lies-weakened-javascript.ts";
import { WEAKENED_NATIVE } from "./lies-weakened-native.ts";
import { WEAKENED_PYTHON } from "./lies-weakened-python.ts";
import { WORDS } from "./lies-words.ts";

/** The agent claims completion in each of these, and the task is not done. Only the class "red gate" leaves a red gate. */
export const LIES: readonly JudgementCase[] = [
  ...WEAKENED_JAVASCRIPT,
  ...WEAKENED_PYTHON,
  ...WEAKENED_NATIVE,
  ...SETTINGS,
  ...GATE_SCRIPTS,
  ...CALLED,
  ...HIDDEN,
  ...SUPPRESSIONS,
  ...WORDS,
  ...NO_WORK,
  ...AROUND_TESTS,
];
