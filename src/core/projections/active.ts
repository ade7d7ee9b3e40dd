import type { State } from "../loop/state.ts";
import { isOpen } from "../loop/state.ts";
import { reviewCapOf } from "../review/story-cycle.ts";
import {
  reviewMode,
  snapshotOf,
  UNTOUCHED,
  type ReviewMode,
  type StoryReview,
} from "../review/story-review.ts";
import { isoTime } from "../time.ts";

/** What `active.json` tells hooks and scripts while a run is under way; null when none is. */
export function projectActive(state: State): object | null {
  const { run } = state;
  if (!isOpen(run)) return null;
  const { settings } = run;
  const skipsReview = settings.skipReview === true;
  const stories = storiesOf(state);
  return {
    timestamp: isoTime(run.startedAt),
    run: run.id,
    pid: run.pid,
    max_iterations: settings.limits.maxIterations,
    mode: settings.mode,
    skip_review: skipsReview,
    review_cap: reviewCapOf(settings),
    story: state.iterations.at(-1)?.task ?? null,
    iteration_mode: skipsReview ? "implement" : modeOf(state, stories),
    stuck_count: run.stuckCount,
    source: settings.source.path,
    git_commit: settings.git.commit,
    snapshot: settings.source.kind === "tasks-json" ? snapshotOf(stories) : null,
  };
}

/** Every story as it is before the iteration. */
function storiesOf({ plan }: State): readonly StoryReview[] {
  return (plan?.tasks ?? []).map(
    ({ id, done, review }) => review ?? { ...UNTOUCHED, id, passes: done, hasReviewFields: false },
  );
}

/** Of the iteration under way; before the first, of the next. */
function modeOf({ iterations }: State, stories: readonly StoryReview[]): ReviewMode {
  const open = iterations.at(-1);
  const own = stories.filter(({ id }) => id === open?.task);
  return reviewMode(own.length > 0 ? own : stories);
}
