import type { Recorded } from "../events.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { TaskId } from "../plan/task.ts";
import {
  claimOf,
  correctionsInWords,
  iterationStories,
  verdictInWords,
  type IterationStory,
} from "./explain-iteration.ts";
import { correctionJson } from "./explain-details.ts";
import { waitOf } from "./explain-waiting.ts";
import { asSentence, count, joined, redBeforeInWords } from "./explain-words.ts";

/** What was decided about a task, and from what. */
export interface TaskExplanation {
  readonly task: TaskId;
  readonly title: string | null;
  /** As in `ralph status`; null when the task is no longer in the source. */
  readonly status: string | null;
  readonly headline: string;
  readonly steps: readonly TaskStep[];
  readonly next: string | null;
}

/** An iteration, or something that happened between two. */
export interface TaskStep {
  readonly story: IterationStory | null;
  readonly text: string;
}

/** `events`: everything recorded about the task. `isDriven`: a process works on the run. */
export function explainTask(
  id: TaskId,
  events: readonly Recorded[],
  state: State,
  isDriven: boolean,
): TaskExplanation {
  const { told, before } = lastChapter(events);
  const stories = iterationStories(told);
  const planned = state.plan?.tasks.find((task) => task.id === id);
  const wait = planned === undefined ? null : waitOf(state, planned, isDriven);
  const accepted = stories.findLast(({ certificate }) => certificate !== null);
  const earlier =
    before === 0
      ? []
      : [betweenStep(`Before that: ${count(before, "iteration")} (ralph history --task ${id}).`)];
  return {
    task: id,
    title: planned?.title ?? null,
    status: planned === undefined ? null : statusOf(state, planned),
    headline: headlineOf(id, state, stories, wait?.what ?? null),
    steps: [...earlier, ...taskSteps(told, stories)],
    next: accepted === undefined || wait?.next != null ? (wait?.next ?? null) : `ralph verify ${id}`,
  };
}

/** What these facts about a task tell, in order; `stories` are those of the same facts. */
export function taskSteps(
  events: readonly Recorded[],
  stories: readonly IterationStory[],
): readonly TaskStep[] {
  const byNumber = new Map(stories.map((story) => [story.record.iteration, story]));
  const agents = new Set(stories.map(({ record }) => record.agent));
  return events.flatMap((event) => stepsOf(event, byNumber, agents.size > 1));
}

/** A task that was completed, undone or reset and begun again is a new story; only the last one is told. */
function lastChapter(events: readonly Recorded[]): {
  readonly told: readonly Recorded[];
  readonly before: number;
} {
  const lastStart = events.findLastIndex(({ type }) => type === "iteration.started");
  const isEnd = ({ type }: Recorded, at: number): boolean => {
    if (type === "task.reset" || type === "task.undone") return true;
    return type === "task.completed" && at < lastStart && !comesBack(events.slice(at + 1));
  };
  const end = events.findLastIndex(isEnd);
  const before = events.slice(0, end + 1).filter(({ type }) => type === "iteration.started").length;
  return { told: events.slice(end + 1), before };
}

/** Accepted work that does not merge goes on where it was. */
function comesBack(after: readonly Recorded[]): boolean {
  return (
    after.find(({ type }) => type === "merge.failed" || type === "iteration.started")?.type === "merge.failed"
  );
}

function headlineOf(
  id: TaskId,
  { plan }: State,
  stories: readonly IterationStory[],
  wait: string | null,
): string {
  const accepted = stories.findLast(({ certificate }) => certificate !== null);
  const source = plan?.source.label ?? "the task list";
  if (accepted === undefined)
    return wait === null ? `${id} is no longer in ${source}.` : `${id} ${asSentence(wait)}`;
  const said = `${id} was accepted in iteration ${accepted.record.iteration}, ${effort(stories)}.`;
  if (wait === null) return `${said} It is no longer in ${source}.`;
  return wait.startsWith("was accepted") || wait.startsWith("is marked")
    ? said
    : `${said} It is open again: it ${asSentence(wait)}`;
}

/** "after 1 rejection and 2 failures" */
function effort(stories: readonly IterationStory[]): string {
  const times = (verdict: string): number =>
    stories.filter(({ record }) => record.verdict === verdict).length;
  const [rejected, failed] = [times("rejected"), times("failed")];
  const hurdles = [
    ...(rejected > 0 ? [count(rejected, "rejection")] : []),
    ...(failed > 0 ? [count(failed, "failure")] : []),
  ];
  if (hurdles.length > 0) return `after ${joined(hurdles)}`;
  return stories.length === 1 ? "at the first attempt" : `after ${count(stories.length, "iteration")}`;
}

function stepsOf(
  event: Recorded,
  stories: ReadonlyMap<number, IterationStory>,
  withAgent: boolean,
): readonly TaskStep[] {
  switch (event.type) {
    case "iteration.started": {
      const story = stories.get(event.iteration);
      return story === undefined ? [] : [{ story, text: iterationText(story, withAgent) }];
    }
    case "baseline.measured": {
      const red = redBeforeInWords(event.gates);
      return red === null ? [] : [betweenStep(red)];
    }
    case "question.answered":
      return [
        betweenStep(
          event.by === "person"
            ? `A person answered: ${asSentence(event.answer)}`
            : `Nobody answered in time, so the default was taken: ${asSentence(event.answer)}`,
        ),
      ];
    case "task.unblocked":
      return [
        betweenStep(
          event.by === "person"
            ? `A person unblocked it: ${asSentence(event.reason)}`
            : `It was unblocked by itself: ${asSentence(event.reason)}`,
        ),
      ];
    case "steer.given":
      return [betweenStep(`A person said: ${asSentence(event.text)}`)];
    default:
      return [];
  }
}

function iterationText(story: IterationStory, withAgent: boolean): string {
  const claim = withAgent ? `${story.record.agent} ${claimOf(story)}` : claimOf(story);
  const parts = [`${claim}.`, verdictInWords(story), correctionsInWords(story), ...story.consequences];
  return parts.filter((part) => part !== "").join(" ");
}

function betweenStep(text: string): TaskStep {
  return { story: null, text };
}

/** The same for scripts. */
export function taskJson(explanation: TaskExplanation): Record<string, unknown> {
  return {
    schema: "ralph.why.v1",
    kind: "task",
    ...explanation,
    steps: explanation.steps.map(({ story, text }) => ({
      iteration: story?.record.iteration ?? null,
      agent: story?.record.agent ?? null,
      claim: story?.record.report?.claim.is ?? null,
      verdict: story?.record.verdict ?? null,
      reasons: story?.record.reasons ?? [],
      corrections: story?.corrections.map(correctionJson) ?? [],
      consequences: story?.consequences ?? [],
      text,
    })),
  };
}
