import { planAct, type Acted, type Circumstances, type OperatorAct } from "../core/loop/operator-act.ts";
import { submission, type Submission, type Submitted } from "../core/loop/submission.ts";
import { taskState, type State } from "../core/state.ts";
import type { Instant } from "../core/time.ts";
import { latestState } from "./follow-log.ts";
import type { Log } from "./ports.ts";

/** Records what a person does, on the latest state, however much happens meanwhile. */
export async function actAsOperator(log: Log, act: OperatorAct, around: Circumstances): Promise<Acted> {
  for (;;) {
    const state = await latestState(log);
    const planned = planAct(state, act, around);
    if (planned.is === "refused") return planned;
    const { events, about, said } = planned;
    const expected =
      about === null ? undefined : { task: { id: about, position: taskState(state, about).position } };
    if ((await log.append(events, expected)) !== null) return { is: "done", said };
  }
}

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
