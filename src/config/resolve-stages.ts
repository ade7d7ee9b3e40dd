import type { StageSettings } from "../core/stages/stages.ts";
import type { Config } from "./schema.ts";

const DEFAULTS: Readonly<Record<string, readonly [maxIterations: number, promise: string]>> = {
  coder: [15, "IMPLEMENTATION_COMPLETE"],
  reviewer: [5, "REVIEW_COMPLETE"],
  tester: [10, "TESTS_COMPLETE"],
  qa: [5, "QA_PASSED"],
};
const OTHER = [10, "STAGE_COMPLETE"] as const;

/** The pipeline, in the order of the file; undefined when there is none. */
export function resolveStages({ stages }: Config): readonly StageSettings[] | undefined {
  const entries = Object.entries(stages);
  if (entries.length === 0) return undefined;
  return entries.map(([name, stage]) => {
    const [maxIterations, promise] = DEFAULTS[name] ?? OTHER;
    return {
      name,
      maxIterations: stage.max_iterations ?? maxIterations,
      promise: stage.completion_promise ?? promise,
      agent: stage.agent ?? null,
      model: stage.model ?? null,
      loops: stage.enabled,
      template: null,
    };
  });
}
