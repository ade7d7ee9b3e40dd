import { EDITS } from "./edit-targets.ts";
import { PROGRAMS } from "./program-targets.ts";
import { READERS } from "./reader-targets.ts";
import type { Target } from "./target.ts";
import { web } from "./web-target.ts";

export const TARGETS: readonly Target[] = [...READERS, ...EDITS, ...PROGRAMS, web];
