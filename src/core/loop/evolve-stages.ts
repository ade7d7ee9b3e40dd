import type { EventOf } from "../events.ts";
import type { TaskState } from "./state.ts";

/** Every stage is a loop of its own, with a session of its own: its counts begin anew. */
export const NEW_LOOP = {
  iterations: 0,
  attempts: 0,
  failures: 0,
  stuckCount: 0,
  session: null,
} satisfies Partial<TaskState>;

export function stageChanged(
  task: TaskState,
  event: EventOf<"stage.passed"> | EventOf<"stage.objected">,
): Partial<TaskState> {
  if (event.type === "stage.passed") return { ...NEW_LOOP, stage: event.next };
  const { iteration, stage, findings } = event;
  const text = `In iteration ${iteration} the ${stage} looked at your work and asks for changes: ${findings}`;
  return {
    ...NEW_LOOP,
    stage: event.to,
    rounds: task.rounds + 1,
    feedback: [...task.feedback, { iteration, text }],
  };
}
