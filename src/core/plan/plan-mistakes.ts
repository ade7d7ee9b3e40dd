import { planProblem, type PlacedTask } from "./check-plan.ts";
import type { Task } from "./task.ts";

/** More than this is more than one iteration can show to be done. */
export const CRITERIA_MAX = 8;

/** What is wrong with a plan that was just made, one sentence each; none when it can be worked on. */
export function planMistakes(placed: readonly PlacedTask[]): readonly string[] {
  if (placed.length === 0) return ['"userStories" is empty; expected at least one story'];
  const problem = planProblem(placed);
  const ofStories = placed.flatMap(({ task, line }) =>
    storyMistakes(task).map((mistake) => `line ${line}: "${task.id}" ${mistake}`),
  );
  return problem === null ? ofStories : [problem, ...ofStories];
}

function storyMistakes({ criteria, done }: Task): readonly string[] {
  const mistakes: string[] = [];
  if (criteria.length === 0) mistakes.push("has no acceptance criteria; say how one sees that it is done");
  if (criteria.some((criterion) => criterion.trim() === ""))
    mistakes.push("has an acceptance criterion without words");
  if (criteria.length > CRITERIA_MAX)
    mistakes.push(
      `has ${criteria.length} acceptance criteria, so it is too big; split it into stories of at most ${CRITERIA_MAX}`,
    );
  if (done) mistakes.push('says "passes": true; nothing of a new plan is done yet');
  return mistakes;
}
