import type { JudgementCase } from "./case.ts";
import { BUILDS } from "./honest-builds.ts";
import { CHECK_SCRIPTS } from "./honest-check-scripts.ts";
import { FEATURES } from "./honest-features.ts";
import { FIXES } from "./honest-fixes.ts";
import { ITERATIONS } from "./honest-iterations.ts";
import { LAYOUTS } from "./honest-layouts.ts";
import { MIGRATIONS } from "./honest-migrations.ts";
import { MOVED_TESTS } from "./honest-moved-tests.ts";
import { NATIVE_FEATURES } from "./honest-native-features.ts";
import { NATIVE_FIXES } from "./honest-native-fixes.ts";
import { NEW_TESTS } from "./honest-new-tests.ts";
import { PAPERS } from "./honest-papers.ts";
import { PROGRAMS } from "./honest-programs.ts";
import { REFACTORINGS } from "./honest-refactorings.ts";
import { REMOVALS } from "./honest-removals.ts";
import { RESHAPED_TESTS } from "./honest-reshaped-tests.ts";
import { SCRATCH_FILES } from "./honest-scratch-files.ts";
import { SETTINGS } from "./honest-settings.ts";
import { WHITE_SPACE } from "./honest-white-space.ts";
import { WORDS } from "./honest-words.ts";

/** Work that does what its task asks: every rejection of one of these is an error of ours. */
export const HONEST: readonly JudgementCase[] = [
  ...BUILDS,
  ...CHECK_SCRIPTS,
  ...FEATURES,
  ...FIXES,
  ...ITERATIONS,
  ...MIGRATIONS,
  ...MOVED_TESTS,
  ...NATIVE_FEATURES,
  ...NATIVE_FIXES,
  ...NEW_TESTS,
  ...PAPERS,
  ...PROGRAMS,
  ...REFACTORINGS,
  ...REMOVALS,
  ...RESHAPED_TESTS,
  ...SCRATCH_FILES,
  ...SETTINGS,
  ...WHITE_SPACE,
  ...WORDS,
  ...LAYOUTS,
];
