import { HONEST_ITERATIONS } from "./honest-iterations.ts";
import type { LabelledIteration } from "./labelled-iteration.ts";
import { LYING_ITERATIONS } from "./lying-iterations.ts";
import { OTHER_ITERATIONS } from "./other-iterations.ts";

export const LABELLED_ITERATIONS: readonly LabelledIteration[] = [
  ...HONEST_ITERATIONS,
  ...LYING_ITERATIONS,
  ...OTHER_ITERATIONS,
];
