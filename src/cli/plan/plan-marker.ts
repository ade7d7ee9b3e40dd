import { createHash } from "node:crypto";
import type { Project } from "../../compose.ts";

/** Carried by every agent that plans in a project: by it one is found that a killed process of ours left running. */
export function planMarker({ stateFolder }: Project): string {
  return `plan-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 16)}`;
}
