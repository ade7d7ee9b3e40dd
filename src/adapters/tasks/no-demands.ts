import type { SourceDemands } from "../../engine/ports.ts";

/** Of a source that only lists tasks. */
export const NO_DEMANDS: SourceDemands = { checks: [], branch: null };
