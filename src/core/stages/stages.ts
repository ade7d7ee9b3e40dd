import type { AgentReport } from "../report/agent-report.ts";
import type { Settings } from "../settings.ts";
import type { Task } from "../plan/task.ts";
import { APPROVED, reviewMode, type ReviewMode, reviewOf } from "../review/story-review.ts";

/** One stop on a task's way: a loop of its own, with its own prompt, promise, limit and agent. */
export interface StageSettings {
  readonly name: string;
  /** Of its loop; null leaves it to the task and the run, and so with the promise. */
  readonly maxIterations: number | null;
  readonly promise: string | null;
  /** Null: whoever works on the task. */
  readonly agent: string | null;
  readonly model: string | null;
  /** False: a single pass, which needs no promise. */
  readonly loops: boolean;
  /** The operator's own prompt; null is the built-in one. */
  readonly template: string | null;
}

/** Without a pipeline there is this one. */
export const BUILD: StageSettings = {
  name: "build",
  maxIterations: null,
  promise: null,
  agent: null,
  model: null,
  loops: true,
  template: null,
};

export function stagesOf({ stages }: Pick<Settings, "stages">): readonly StageSettings[] {
  return stages === undefined || stages.length === 0 ? [BUILD] : stages;
}

/** Who works, in the order of the stages. */
export function agentsOfStages(settings: Pick<Settings, "stages" | "agent">): readonly string[] {
  return [...new Set(stagesOf(settings).map((stage) => stage.agent ?? settings.agent))];
}

export function agentsInWords(settings: Pick<Settings, "stages" | "agent">): string {
  return agentsOfStages(settings).join(", ");
}

/** The stage of a name; the first one for a task that is in none, or in one that is configured no longer. */
export function stageNamed(settings: Pick<Settings, "stages">, name: string | null): StageSettings {
  const stages = stagesOf(settings);
  return stages.find((stage) => stage.name === name) ?? stages[0] ?? BUILD;
}

export function stageAfter(settings: Pick<Settings, "stages">, name: string): StageSettings | null {
  const stages = stagesOf(settings);
  return stages[stages.findIndex((stage) => stage.name === name) + 1] ?? null;
}

/** Where a task is: in the review cycle of its source, or at the stage that it has come to. */
export function stageOf(settings: StageChoice, task: Task | undefined, name: string | null): StageSettings {
  const review = reviewOf(settings, task);
  return review === null ? stageNamed(settings, name) : modeStage(settings, reviewMode([review]));
}

type StageChoice = Pick<Settings, "stages" | "skipReview" | "modeTemplates">;

/** The modes of the review cycle are worked on by whoever has that part in a pipeline. */
function modeStage({ stages = [], modeTemplates = {} }: StageChoice, mode: ReviewMode): StageSettings {
  const part = mode === "review" ? "reviewer" : "coder";
  const { agent, model } = stages.find((stage) => stage.name === part) ?? BUILD;
  const promise = mode === "review" ? APPROVED : null;
  return { ...BUILD, name: mode, agent, model, promise, template: modeTemplates[mode] ?? null };
}

/** Whether it looks at what others wrote, and writes nothing itself. */
export function isReading(stage: string): boolean {
  return stage === "reviewer" || stage === "qa" || stage === ("review" satisfies ReviewMode);
}

const OBJECTION = "CHANGES_REQUESTED:";

/** What a later stage wants changed, in its words; null when it has no objection, or is not asked. */
export function objectionIn(
  { promise, failure }: AgentReport,
  settings: Pick<Settings, "stages">,
  stage: string,
): string | null {
  const isFirst = stagesOf(settings)[0]?.name === stage;
  if (isFirst || failure !== null || !promise?.startsWith(OBJECTION)) return null;
  const words = promise.slice(OBJECTION.length).trim();
  return words === "" ? null : words;
}
