import { submission, type Submission, type Submitted } from "../core/loop/submission.ts";
import type { State } from "../core/loop/state.ts";
import type { Instant } from "../core/time.ts";
import { latestState } from "./operator.ts";
import type { Log } from "./ports.ts";

/** Gives tasks to the workers, on the latest state, however much happens meanwhile. */
export async function submit(
  log: Log,
  submitted: Submitted,
  now: () => Instant,
): Promise<{ readonly submission: Submission; readonly state: State }> {
  for (;;) {
    const state = await latestState(log);
    const answer = submission(state, submitted, now());
    if (answer.is === "known" || answer.is === "refused") return { submission: answer, state };
    if ((await log.append(answer.events, { position: state.position })) !== null)
      return { submission: answer, state: await latestState(log) };
  }
}
