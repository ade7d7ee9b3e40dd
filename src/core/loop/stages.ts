import type { AgentReport } from "../streams/agent-report.ts";
import type { Settings } from "../settings.ts";
import type { Task } from "../plan.ts";
import { taskState, type State } from "../state.ts";
import type { Instant } from "../time.ts";
import { APPROVED, readReviewSignal, reviewMode, reviewOf } from "../review/story-review.ts";

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
  /** Missing: as its name begins. */
  readonly kind?: StageKind;
}

/** What a stage is there for: its words in the prompt, and its rules. */
export type StageKind = "coder" | "reviewer" | "tester" | "qa" | "other";

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

export function stageAfter(settings: Pick<Settings, "stages">, name: string): StageSettings | null {
  const stages = stagesOf(settings);
  return stages[stages.findIndex((stage) => stage.name === name) + 1] ?? null;
}

/**
 * Where a task is: in the review cycle of its source, or at the stage that it has come to; at the first one when it is
 * in none, or in one that is configured no longer.
 */
export function stageOf(
  settings: Pick<Settings, "stages" | "skipReview" | "modeTemplates">,
  task: Task | undefined,
  name: string | null,
): StageSettings {
  const stages = stagesOf(settings);
  const review = reviewOf(settings, task);
  if (review === null) return stages.find((stage) => stage.name === name) ?? stages[0] ?? BUILD;
  // The modes of the review cycle are worked on by whoever has that part in a pipeline.
  const mode = reviewMode([review]);
  const [part, promise] = mode === "review" ? ["reviewer", APPROVED] : ["coder", null];
  const { agent, model } = stages.find((stage) => stage.name === part) ?? BUILD;
  return { ...BUILD, name: mode, agent, model, promise, template: settings.modeTemplates?.[mode] ?? null };
}

/** By its settings, else by how its name begins; the modes of the review cycle have a kind as well. */
export function kindOf({ stages = [] }: Pick<Settings, "stages">, name: string): StageKind {
  const kind = stages.find((stage) => stage.name === name)?.kind;
  return kind ?? KINDS.find(([beginning]) => name.startsWith(beginning))?.[1] ?? "other";
}

const KINDS: readonly (readonly [beginning: string, StageKind])[] = [
  ["review-fix", "coder"],
  ["review", "reviewer"],
  ["test", "tester"],
  ["code", "coder"],
  ["coding", "coder"],
  ["qa", "qa"],
];

/** Whether it looks at what others wrote, and writes nothing itself. */
export function isReading(settings: Pick<Settings, "stages">, stage: string): boolean {
  return ["reviewer", "qa"].includes(kindOf(settings, stage));
}

/** Where work goes that a stage objects to: the nearest stage before it that writes code. */
export function stageBefore(settings: Pick<Settings, "stages">, name: string): StageSettings {
  const stages = stagesOf(settings);
  const at = stages.findIndex((stage) => stage.name === name);
  const nearest = (kind: StageKind): StageSettings | undefined =>
    stages.findLast((stage, index) => index < at && kindOf(settings, stage.name) === kind);
  return nearest("coder") ?? nearest("other") ?? stages[0] ?? BUILD;
}

/** Who would work on a task: the stand-in of a suspended agent, the stage's, the task's own, or the run's. */
export function agentFor(state: State, task: Task, settings: Settings): string {
  const { standIn, stage } = taskState(state, task.id);
  if (standIn !== null && settings.fallbackAgents.includes(standIn)) return standIn;
  return stageOf(settings, task, stage).agent ?? task.agent ?? settings.agent;
}

/** Who works on it now: while that agent is limited, the first fallback that is not, or whose limit ends first. */
export function agentNow(state: State, task: Task, settings: Settings, now: Instant): string {
  const agent = agentFor(state, task, settings);
  if (limitedUntil(state, agent) <= now) return agent;
  const { suspended } = taskState(state, task.id);
  const others = settings.fallbackAgents.filter((name) => !suspended.includes(name));
  const free = others.find((name) => limitedUntil(state, name) <= now);
  const soonest = (a: string, b: string): string => (limitedUntil(state, b) < limitedUntil(state, a) ? b : a);
  return free ?? others.reduce(soonest, agent);
}

/** Until when an agent's own limit lasts; a moment that is over when it has none, never when a person has to act. */
export function limitedUntil({ agentLimits, run }: State, agent: string): Instant {
  return run?.lockedOut[agent] === undefined ? (agentLimits[agent] ?? 0) : Infinity;
}

/** Whether it is an agent's limit that ends at this moment, and not the pause after a failure. */
export function isAgentLimit({ agentLimits }: State, until: Instant): boolean {
  return Object.values(agentLimits).includes(until);
}

/** What the agent has to print when it is done: the stage's, the task's, or the run's. */
export function promiseFor(task: Task | undefined, settings: Settings, stage: StageSettings): string {
  return stage.promise ?? task?.promise ?? settings.promise.completion;
}

const FINDINGS_MAX = 20;
const FINDING_LENGTH_MAX = 2_000;
const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)/;

/** The items of a list, each in one line; words without a list are one finding. */
export function findingsIn(text: string): readonly string[] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => ITEM.test(line));
  const isList = lines.filter((line) => ITEM.test(line)).length > 1;
  const items = isList
    ? lines.slice(first).reduce<readonly string[]>((found, line) => {
        if (ITEM.test(line)) return [...found, line.replace(ITEM, "")];
        return [...found.slice(0, -1), `${found.at(-1) ?? ""} ${line.trim()}`];
      }, [])
    : [text];
  const kept =
    items.length <= FINDINGS_MAX
      ? items
      : [...items.slice(0, FINDINGS_MAX - 1), items.slice(FINDINGS_MAX - 1).join("; ")];
  return kept
    .map((item) => item.trim().slice(0, FINDING_LENGTH_MAX).toWellFormed())
    .filter((item) => item !== "");
}

/** Who sends work back that waited for an approval. */
export const PERSON = "person";

/** What a later stage found, as the prompts show it. */
export interface SentBack {
  /** The stage that found it, and when. */
  readonly by: string;
  readonly iteration: number;
  readonly findings: readonly string[];
  /** Something has changed since. */
  readonly hasChanged: boolean;
  /** Of the agent, to findings that it left as they are. */
  readonly answers: readonly { readonly number: number; readonly text: string }[];
  /** Nothing has been accepted since. */
  readonly isOpen: boolean;
}

export function sentBack(by: string, iteration: number, words: string): SentBack {
  return { by, iteration, findings: findingsIn(words), hasChanged: false, answers: [], isOpen: true };
}

/** What a later stage wants changed, in its words; null when it has no objection, or is not asked. */
export function objectionIn(
  { promise = null, failure }: AgentReport,
  settings: Pick<Settings, "stages">,
  stage: string,
): string | null {
  if (failure !== null || stagesOf(settings)[0]?.name === stage) return null;
  const signal = readReviewSignal(promise, "");
  return signal?.is === "changes-requested" ? signal.feedback : null;
}
