import { lessonsOf } from "./intervention.ts";
import { reviewOf } from "../review/story-review.ts";
import type { EventOf, RunId } from "../events.ts";
import type { Task, TaskId } from "../plan.ts";
import { buildPrompt } from "../prompt/build-prompt.ts";
import type { Settings } from "../settings.ts";
import { isReading, kindOf, stageOf, stagesOf, agentNow, promiseFor, type StageSettings } from "./stages.ts";
import type { Instant } from "../time.ts";
import { iterationLimit, iterationsShown, timeoutFor } from "./iteration-timeout.ts";
import { mayStart } from "./decide.ts";
import { gatesKnownAt } from "./evolve-iteration.ts";
import { isOpen, taskState, baseCommit, type State, type TaskState, type AgentSession } from "../state.ts";
import { steerSection, steersFor } from "./steer.ts";
import type { ShownWork } from "../verdict/reader.ts";

/** An iteration ready to be admitted: the fact to record, and what the agent will be given. */
export interface Beginning {
  readonly started: Omit<EventOf<"iteration.started">, "promptSha256" | "marker">;
  readonly prompt: string;
  readonly promise: Settings["promise"];
  readonly about: Pick<Task, "title" | "description" | "criteria">;
  /** What an agent that resumes sessions may go on with. */
  readonly session: AgentSession | null;
  /** The stage's own; null is the agent's. */
  readonly model: string | null;
}

export interface Surroundings {
  readonly head: string | null;
  readonly branch: string | null;
  /** The end of `progress.txt`. */
  readonly notes: string;
  /** Missing: where it usually is. */
  readonly notesPath?: string;
  /** The change so far, for a stage that is shown it. */
  readonly work?: ShownWork | null;
  /** Of several that share the run; null is the only one. */
  readonly worker?: string | null;
}

/** The next iteration of a task, or null when it may not start (any more). */
export function beginIteration(
  state: State,
  id: TaskId,
  lane: number,
  around: Surroundings,
  now: Instant,
): Beginning | null {
  const { run, plan } = state;
  const task = plan?.tasks.find((planned) => planned.id === id);
  if (!isOpen(run) || task === undefined || !mayStart(state, id, now)) return null;
  const { settings } = run;
  const known = taskState(state, id);
  const stage = stageOf(settings, task, known.stage);
  const review = reviewOf(settings, task);
  const promise = { ...settings.promise, completion: promiseFor(task, settings, stage) };
  const { worker = null } = around;
  const count = nextCount(state, task, settings, stage);
  const prompt = buildPrompt({
    task,
    stage: stage.name,
    kind: kindOf(settings, stage.name),
    isFirstStage:
      review === null ? stagesOf(settings)[0]?.name === stage.name : !isReading(settings, stage.name),
    work: around.work ?? null,
    review,
    ...count,
    promise: promise.completion,
    settings,
    known: {
      ...known,
      baseline: known.baseline ?? gatesKnownAt(state, around.head),
      feedback: settings.interventions.enabled ? known.feedback : [],
    },
    base: baseCommit(state, id),
    notes: around.notes,
    notesPath: around.notesPath ?? ".ralph/progress.txt",
    messages: steerSection(steersFor(state.steers, id)),
    lessons: settings.interventions.enabled ? lessonsOf(state.findings) : [],
    template: stage.template ?? settings.promptTemplate,
  });
  const timeout = timeoutFor(state, task, settings);
  const started = {
    type: "iteration.started" as const,
    run: run.id,
    task: id,
    iteration: state.lastIteration + 1,
    stage: stage.name,
    ...count,
    lane: freeLane(state, run.settings.lanes, lane),
    agent: agentNow(state, task, settings, now),
    timeoutMs: timeout.timeoutMs,
    timeoutFrom: timeout.from,
    complexity: timeout.complexity,
    head: around.head,
    branch: around.branch,
    ...(worker !== null && { worker }),
  };
  return {
    started,
    prompt,
    promise,
    about: task,
    session: sessionOf(known, run.id, started.agent, worker),
    // What was asked for when tasks were submitted is meant for the agent that was asked for.
    model: stage.model ?? (started.agent === settings.agent ? (settings.model ?? null) : null),
  };
}

/** Which iteration of its loop a task begins next, and of how many; an interrupted 4/30 is followed by 5/30. */
function nextCount(
  state: State,
  task: Task,
  settings: Settings,
  stage: StageSettings,
): { readonly ordinal: number; readonly maxIterations: number } {
  const { iterations } = taskState(state, task.id);
  // A limit that was lowered below what is used up begins anew.
  const ordinal = iterations >= iterationLimit(state, task, settings, stage) ? 1 : iterations + 1;
  return { ordinal, maxIterations: iterationsShown(state, task, settings, stage, ordinal) };
}

/** Where the change begins that the next iteration is shown; null when it is shown none. */
export function shownBase(state: State, id: TaskId): string | null {
  const { run, plan } = state;
  const task = plan?.tasks.find((planned) => planned.id === id);
  if (run === null || task === undefined) return null;
  const { name } = stageOf(run.settings, task, taskState(state, id).stage);
  const isShown = ["reviewer", "tester", "qa"].includes(kindOf(run.settings, name));
  return isShown ? baseCommit(state, id) : null;
}

/** Others may have begun in the one that was wished for: they are admitted in another order. */
function freeLane({ iterations }: State, lanes: number, wished: number): number {
  const taken = new Set(iterations.map((open) => open.lane));
  const all = [wished, ...Array.from({ length: lanes }, (_, index) => index + 1)];
  return all.find((lane) => !taken.has(lane)) ?? wished;
}

/** Only one of this run, agent and machine; after repeated failures of the same kind a fresh one does better. */
function sessionOf(
  { session, feedbackLeads }: TaskState,
  run: RunId,
  agent: string,
  worker: string | null,
): AgentSession | null {
  const isOurs = session?.run === run && session.agent === agent && session.worker === worker;
  return isOurs && !feedbackLeads ? session : null;
}

/** Whether the gates have to be asked before the task's first agent starts. */
export function needsBaseline(state: State, id: TaskId, head: string | null): boolean {
  const { workBase, baseline } = taskState(state, id);
  const hasGates = (state.run?.settings.gates.length ?? 0) > 0;
  return hasGates && workBase === null && baseline === null && gatesKnownAt(state, head) === null;
}
