import type { SourceIdentity } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Places } from "./detect-source.ts";
import { openSource } from "./open-source.ts";

/** The task source that a run would find by itself; null when there is none. */
export function detectedSource(places: Places): SourceIdentity | null {
  try {
    return openSource({ is: "auto" }, places).source.identity;
  } catch (error) {
    if (error instanceof RalphError && error.code === "no-tasks") return null;
    throw error;
  }
}
