import { lookAtStories, lostStories, type StoryFindings } from "../../core/review/look-at-stories.ts";
import { reviewCapOf, reviewOf } from "../../core/review/story-cycle.ts";
import type { OpenIteration, State } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../ports.ts";

/** What the agent did to the review state of stories; null where there is no review cycle. It changes nothing. */
export async function storyFindings(
  source: TaskSource,
  { plan, run }: State,
  open: OpenIteration,
): Promise<StoryFindings | null> {
  const task = plan?.tasks.find(({ id }) => id === open.task);
  const own = run && reviewOf(run.settings, task);
  if (source.stories === undefined || run === null || plan === null || own === null) return null;
  const { label } = plan.source;
  const file = await source.stories.read();
  if (file === undefined) return lostStories(own, `${label} was gone, or no JSON any more; it comes back`);
  const findings = lookAtStories(file, plan.tasks, own, reviewCapOf(run.settings));
  if (findings.problems.length > 0) return findings;
  const unusable = await whyUnusable(source);
  return unusable === null ? findings : lostStories(own, `${unusable}; ${label} comes back as it was`);
}

/** Stories that cannot be worked on together: an unknown dependency, a circle. */
async function whyUnusable(source: TaskSource): Promise<string | null> {
  try {
    await source.observe();
    return null;
  } catch (error) {
    if (error instanceof RalphError && error.code === "bad-tasks") return error.message;
    throw error;
  }
}
