import type { Claim } from "../../src/core/streams/agent-report.ts";
import { AUTO_APPROVED, REVIEW_MODES } from "../../src/core/review/story-review.ts";
import type { AgentRequest } from "../../src/engine/ports.ts";
import type { Behaviour } from "./agent-behaviour.ts";
import type { RawStory } from "./story-file.ts";
import { breakFile, forge, tidyAway } from "./story-forgeries.ts";
import type { TaskTruth, World } from "./world.ts";

const COMPLETE: Claim = { is: "complete", promise: "COMPLETE" };
const APPROVED: Claim = { is: "complete", promise: "APPROVED" };
const NO_CLAIM: Claim = { is: "none" };

/** What an agent does in a world with stories; null leaves it to its character. */
export function behaveInCycle(
  world: World,
  truth: TaskTruth,
  request: AgentRequest,
  usual: Behaviour,
): Behaviour | null {
  if (world.stories === null || request.stage === "reviewer") return null;
  if (!REVIEW_MODES.some((mode) => mode === request.stage)) return withoutReview(world, truth, usual);
  const honest =
    request.stage === "review" ? review(world, truth, usual) : build(world, truth, request, usual);
  if (truth.forges > 0 && world.random.chance(0.5)) return forgery(world, truth, request, usual);
  if (truth.fumbles > 0 && world.random.chance(0.5)) return fumble(world, truth, request, honest);
  const isPlain = request.stage === "review" || truth.misbehaves <= 0 || world.random.chance(0.5);
  return isPlain ? honest : null;
}

/** It may tick the story itself, and that counts as its word. */
function withoutReview(world: World, truth: TaskTruth, usual: Behaviour): Behaviour | null {
  if (truth.misbehaves > 0) return null;
  if (truth.forges > 0 && world.random.chance(0.5)) {
    const forges = (): void => {
      truth.forges -= 1;
      breakFile(world);
    };
    return doing(usual, usual.work, forges);
  }
  if (usual.claim.is !== "complete" || world.random.chance(0.5)) return null;
  return doing({ ...usual, claim: NO_CLAIM }, usual.work, () => world.tick(truth.id));
}

/** Works, and says so by its promise, by its own edit, or by both. */
function build(world: World, truth: TaskTruth, { stage }: AgentRequest, usual: Behaviour): Behaviour {
  const isHasty = truth.hasty > 0;
  const hurry = (): void => {
    if (isHasty) truth.hasty -= 1;
  };
  if (usual.claim.is !== "complete" && !isHasty) return usual;
  const step = { reviewStatus: "needs_review", ...(stage === "review-fix" && { reviewFeedback: "" }) };
  return said(world, truth, doing({ ...usual, claim: COMPLETE }, usual.work, hurry), step);
}

/** Approves what is good, and nearly never objects to it. */
function review(world: World, truth: TaskTruth, usual: Behaviour): Behaviour {
  const { random, repository } = world;
  const reads = { ...usual, work: () => {}, words: "I have looked at it." };
  const { reviewCount: before, isAtCap } = reviewsOf(world, truth);
  const reviewCount = before + 1;
  if (!world.isTrulyDone(truth.id) || random.chance(0.2)) {
    const objects = { ...reads, claim: NO_CLAIM, promise: "CHANGES_REQUESTED:not so" };
    const change = { reviewStatus: "changes_requested", reviewCount, reviewFeedback: "not so" };
    return said(world, truth, objects, change);
  }
  const meddle = (): void => repository.write(truth.id);
  const approves = { ...reads, claim: APPROVED, work: random.chance(0.1) ? meddle : reads.work };
  const notes = isAtCap && random.chance(0.5) ? `good ${AUTO_APPROVED}` : "good";
  return said(world, truth, approves, { reviewStatus: "approved", passes: true, reviewCount, notes });
}

function reviewsOf({ stories }: World, { id }: TaskTruth): { reviewCount: number; isAtCap: boolean } {
  const reviewCount = stories?.review(id)?.reviewCount ?? 0;
  return { reviewCount, isAtCap: stories !== null && reviewCount >= stories.cap };
}

/** By its words, by its edit of the file, or by both. */
function said(world: World, truth: TaskTruth, behaviour: Behaviour, step: RawStory): Behaviour {
  const way = world.random.pick(["words", "words", "edit", "both"] as const);
  if (way === "words") return behaviour;
  const { promise: _promise, ...silent } = { ...behaviour, claim: NO_CLAIM };
  const edit = (): void => world.stories?.alter(truth.id, step);
  return doing(way === "edit" ? silent : behaviour, behaviour.work, edit);
}

/** Writes what it must not, beside its work or instead of it; its words alone would be no lie. */
function forgery(world: World, truth: TaskTruth, request: AgentRequest, usual: Behaviour): Behaviour {
  const isReview = request.stage === "review";
  const approves = isReview && world.isTrulyDone(truth.id) ? APPROVED : NO_CLAIM;
  const claim = world.random.chance(0.3) ? NO_CLAIM : isReview ? approves : COMPLETE;
  const work = isReview || world.random.chance(0.5) ? (): void => {} : usual.work;
  return doing({ ...usual, claim }, work, () => {
    truth.forges -= 1;
    forge(world, truth, request);
  });
}

/** Does its part, edit and all, and then blocks, fails, is too slow, or has not decided anything. */
function fumble(world: World, truth: TaskTruth, request: AgentRequest, honest: Behaviour): Behaviour {
  const fumbles = doing(honest, honest.work, () => void (truth.fumbles -= 1));
  const exits = { ...fumbles, claim: NO_CLAIM, ending: { is: "exited", code: 1 } } as const;
  const { promise: _promise, ...silent } = fumbles;
  const isReview = request.stage === "review";
  return world.random.pick<() => Behaviour>([
    () => ({ ...fumbles, claim: { is: "blocked", reason: "no credentials" } }),
    () => ({ ...fumbles, claim: { is: "undecided", question: "this or that?", options: ["this", "that"] } }),
    () => ({ ...exits, failure: { class: "agent", message: "exit 1" } }),
    () => ({ ...exits, failure: { class: "transient", message: "503" } }),
    () => ({ ...fumbles, takesMs: request.timeoutMs + 60_000 }),
    () => doing(fumbles, fumbles.work, () => tidyAway(world)),
    () => ({ ...silent, work: () => void (truth.fumbles -= 1), claim: NO_CLAIM }),
    () => ({ ...fumbles, work: () => void (truth.fumbles -= 1), claim: NO_CLAIM, promise: "COMPLETE" }),
    () => ({ ...silent, work: () => void (truth.fumbles -= 1), claim: isReview ? NO_CLAIM : COMPLETE }),
  ])();
}

function doing(behaviour: Behaviour, ...works: readonly (() => void)[]): Behaviour {
  return {
    ...behaviour,
    work: () => {
      for (const work of works) work();
    },
  };
}
