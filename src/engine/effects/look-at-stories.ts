import { lookAtStories, type StoryFindings } from "../../core/review/look-at-stories.ts";
import { reviewCapOf, reviewOf } from "../../core/review/story-cycle.ts";
import type { OpenIteration, State } from "../../core/loop/state.ts";
import type { Stories } from "../ports.ts";

/** Undoes what the agent did to the review state of stories against the rules; null where there is no review cycle. */
export async function undoIllegalEdits(
  stories: Stories | undefined,
  { plan, run }: State,
  open: OpenIteration,
): Promise<StoryFindings | null> {
  const task = plan?.tasks.find(({ id }) => id === open.task);
  const own = run && reviewOf(run.settings, task);
  if (stories === undefined || run === null || plan === null || own === null) return null;
  const file = await stories.read();
  if (file === undefined) {
    await stories.restore();
    const sentence = `${plan.source.label} was gone, or no JSON any more; it has been put back`;
    return { problems: [{ story: null, field: "userStories", rule: "schema", sentence }], own };
  }
  const { findings, undo } = lookAtStories(file, plan.tasks, own, reviewCapOf(run.settings));
  if (undo.isBeyondFields) await stories.restore();
  else if (undo.edits.length + undo.deleted.length > 0) await stories.edit(undo.edits, undo.deleted);
  return findings;
}
