import type { LetterKind } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { taskState, type State, type TaskState } from "../../core/loop/state.ts";
import { blockedLetter, decideLetter } from "../../core/prompt/letters.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** Writes the letter that asks the operator. */
export async function publishLetter(
  effect: EffectOf<"publish-letter">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { state } = journal;
  const task = taskState(state, effect.task);
  const kind: LetterKind = task.blockedReason !== null ? "blocked" : "decide";
  const file = fileFor(state, task, kind);
  const text =
    kind === "blocked" ? blockedLetter(task, state.lastIteration, ports.clock.now()) : decideLetter(task);
  const sha256 = await ports.letters.publish(file, text);
  await journal.record({ type: "letter.published", task: task.id, kind, file, sha256 });
}

export async function withdrawLetter(
  effect: EffectOf<"withdraw-letter">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { letter } = taskState(journal.state, effect.task);
  if (letter === null) return;
  await ports.letters.withdraw(letter.file);
  await journal.record({ type: "letter.withdrawn", task: effect.task, file: letter.file });
}

function fileFor(state: State, task: TaskState, kind: LetterKind): string {
  const alone = `${kind}.txt`;
  const taken = Object.values(state.tasks).some(
    (other) => other.id !== task.id && other.letter?.file === alone,
  );
  return taken ? `${kind}-${task.id.replaceAll(/[^\w.-]/g, "_")}.txt` : alone;
}
