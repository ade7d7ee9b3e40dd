import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";
import type { State } from "../../src/core/state.ts";
import { AUTO_APPROVED, reviewMode, type StoryReview } from "../../src/core/review/story-review.ts";
import type { Settings } from "../../src/core/settings.ts";
import type { AgentRequest } from "../../src/engine/ports.ts";
import type { World } from "./world.ts";

type Settled = Recorded<EventOf<"story.settled">>;

const FIELDS = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"] as const;

export function hasReviewCycle(world: World, { skipReview }: Settings): boolean {
  return world.stories !== null && skipReview !== true;
}

/** Whoever starts finds the file as it must be, and is there for what its story asks for. */
export function checkStoryStart(world: World, { iteration, task, stage }: AgentRequest): void {
  const review = world.stories?.review(task);
  if (!MODES.has(stage)) return;
  if (review === undefined) world.violate(`iteration ${iteration} is for ${task}, which is not in the file`);
  else if (reviewMode([review]) !== stage)
    world.violate(`iteration ${iteration} is there to ${stage}, and its story is ${review.reviewStatus}`);
}

const MODES: ReadonlySet<string> = new Set(["implement", "review", "review-fix"]);

/** At every end of a run: the file is sound, and says what the log says. */
export function checkStoriesAtEnd(world: World, { plan }: State, settings: Settings): void {
  if (world.stories === null || plan === null) return;
  const raw = world.stories.raw();
  if (raw === undefined) return world.violate("the file with the stories was left unusable");
  const ids = raw.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) world.violate("an id is in the file with the stories twice");
  for (const { id, review } of plan.tasks) {
    const now = world.stories.review(id);
    if (now === undefined) world.violate(`${id} was lost from the file with the stories`);
    else if (JSON.stringify(now) !== JSON.stringify(review))
      world.violate(`the log says ${shown(review)} of ${id}, and the file ${shown(now)}`);
  }
  if (!hasReviewCycle(world, settings)) return;
  for (const story of world.stories.reviews()) checkStory(world, story, world.stories.cap);
}

function checkStory(world: World, story: StoryReview, cap: number): void {
  const { id, passes, reviewStatus, reviewFeedback, reviewCount, notes } = story;
  if (passes !== (reviewStatus === "approved")) world.violate(`${id} was left with ${shown(story)}`);
  if (reviewStatus === "changes_requested" && reviewFeedback === "")
    world.violate(`${id} goes back, and nobody says why`);
  if (reviewCount < 0 || reviewCount > cap + 1) world.violate(`${id} was reviewed ${reviewCount} times`);
  if (passes && notes === "") world.violate(`${id} passes without notes`);
  // Notes may be left by somebody whose approval did not count.
  if (passes && reviewCount > cap !== notes.includes(AUTO_APPROVED))
    world.violate(`${id} has the notes "${notes}" after ${reviewCount} reviews of at most ${cap}`);
}

/** What became of every story follows from verdicts, step by step, and nobody else has moved it. */
export function checkStoryHistory(world: World, events: readonly Recorded[]): void {
  const stories = new Map(world.stories?.begun);
  const known = new Set<string>();
  for (const event of events) {
    if (event.type === "story.settled") takeStep(world, events, event, stories);
    if (event.type !== "tasks.observed") continue;
    const seen = new Set(event.plan.tasks.map(({ id }) => id));
    for (const id of known) if (!seen.has(id)) world.violate(`${id} was lost from the plan`);
    for (const { id, review } of event.plan.tasks) {
      known.add(id);
      const expected = stories.get(id);
      if (review === undefined || FIELDS.some((field) => review[field] !== expected?.[field]))
        world.violate(`${id} was seen as ${shown(review)}, and nobody made it so: ${shown(expected)}`);
    }
  }
  checkForgers(world, events);
  checkApprovals(world, events, stories, world.stories?.cap ?? 0);
}

function takeStep(
  world: World,
  events: readonly Recorded[],
  step: Settled,
  stories: Map<string, StoryReview>,
): void {
  const was = stories.get(step.task);
  if (was === undefined) return world.violate(`${step.task} was settled, and nobody knows it`);
  const now: StoryReview = {
    ...was,
    ...Object.fromEntries(
      step.edits.filter(({ story }) => story === step.task).map(({ field, value }) => [field, value]),
    ),
  };
  stories.set(step.task, now);
  for (const { story, field, value } of step.edits) {
    const other = stories.get(story);
    // New stories may have anything undone; of others only what an agent did to them.
    if (story !== step.task && other !== undefined && field !== "notes" && other[field] !== value)
      world.violate(`${step.task} was settled, and ${story} with it: ${field} is ${value}`);
  }
  const words = `${step.task} went from ${shown(was)} to ${shown(now)} in iteration ${step.iteration}`;
  if (was.reviewStatus !== step.from || now.reviewStatus !== step.to) world.violate(`${words}, unsaid`);
  const counted = now.reviewCount - was.reviewCount;
  const isReviewed = step.from === "needs_review" && step.to !== step.from;
  if (counted !== (isReviewed ? 1 : 0)) world.violate(`${words}, miscounted`);
  const way = `${step.from} → ${step.to} by ${rulingOn(events, step)}`;
  if (step.from === step.to ? FIELDS.some((field) => was[field] !== now[field]) : !LEGAL.has(way))
    world.violate(`${words}, against the rules: ${way}`);
}

const LEGAL: ReadonlySet<string> = new Set([
  "null → needs_review by implement accepted",
  "changes_requested → needs_review by review-fix accepted",
  "needs_review → approved by review accepted",
  "needs_review → changes_requested by review continue",
]);

function rulingOn(events: readonly Recorded[], { iteration }: Settled): string {
  const started = of(events, "iteration.started").find((event) => event.iteration === iteration);
  const verdict = of(events, "verdict.reached").find((event) => event.iteration === iteration);
  return `${started?.stage} ${verdict?.verdict}`;
}

/** Whoever wrote into the file what it must not is not believed, whatever it says. */
function checkForgers(world: World, events: readonly Recorded[]): void {
  for (const { iteration, verdict } of of(events, "verdict.reached"))
    if (verdict === "accepted" && world.forgedIn.has(iteration))
      world.violate(`iteration ${iteration} was accepted, and has changed stories against the rules`);
}

function checkApprovals(
  world: World,
  events: readonly Recorded[],
  stories: ReadonlyMap<string, StoryReview>,
  cap: number,
): void {
  const completed = of(events, "task.completed").map(({ task }) => task);
  for (const [id, { passes, reviewCount }] of stories) {
    const reviews = of(events, "story.settled").filter(
      ({ task, from, to }) => task === id && from === "needs_review" && to !== from,
    ).length;
    const before = world.stories?.begun.get(id)?.reviewCount ?? 0;
    if (reviewCount !== before + reviews || reviewCount > Math.max(cap + 1, before))
      world.violate(
        `${id} had ${reviews} reviews after ${before}, and counts ${reviewCount} of at most ${cap}`,
      );
    if (passes !== completed.includes(id))
      world.violate(`${id} is ${passes ? "" : "not "}approved, against what the log says of its task`);
  }
}

function shown(story: StoryReview | undefined): string {
  return JSON.stringify(story);
}

function of<Type extends EventType>(
  events: readonly Recorded[],
  type: Type,
): readonly Recorded<EventOf<Type>>[] {
  return events.filter((event) => event.type === type) as unknown as readonly Recorded<EventOf<Type>>[];
}
