import type { Event, LetterKind } from "../core/events.ts";
import { isOpen, type Letter, type State, type TaskState, taskState } from "../core/loop/state.ts";
import { readAnswer, blockedLetter, decideLetter } from "../core/prompt/letters.ts";
import type { Plan } from "../core/plan/task.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { Ports } from "./ports.ts";
import type { Journal } from "./journal.ts";
import type { EffectOf } from "../core/loop/effects.ts";
import { defaultAnswer } from "../core/loop/outcome.ts";
import { decide } from "../core/loop/decide.ts";

/**
 * What people did since we last looked: edits of the task source, answers and deletions of letters. Asked
 * before every act that rests on them, while no agent runs that could have done it.
 */
export async function lookAround(ports: Ports, state: State): Promise<readonly Event[]> {
  if (!isOpen(state.run)) return [];
  const plan = await observed(ports, state);
  const news: Event[] = samePlan(plan, state.plan)
    ? []
    : [{ type: "tasks.observed", run: state.run.id, plan }];
  // Of an agent that is at work, or was until now, nobody knows yet what it did to them.
  const isQuiet = state.iterations.every(({ phase }) => phase.is !== "running" && phase.is !== "ended");
  const withLetters = isQuiet ? Object.values(state.tasks).filter((task) => task.letter !== null) : [];
  const answers = await Promise.all(
    withLetters.map((task) => readLetter(ports, task, task.letter as Letter)),
  );
  return [...news, ...answers.flat()];
}

/**
 * A person may be in the middle of editing, or the place where the tasks are does not answer: a plan that cannot be
 * used now leaves the one before in force.
 */
async function observed(ports: Ports, { plan }: State): Promise<Plan> {
  try {
    return await ports.source.observe();
  } catch (error) {
    const isPassing = error instanceof RalphError && ["bad-tasks", "unreachable"].includes(error.code);
    if (plan === null || !isPassing) throw error;
    return plan;
  }
}

async function readLetter(ports: Ports, task: TaskState, letter: Letter): Promise<readonly Event[]> {
  const now = await ports.letters.read(letter.file);
  if (letter.kind === "blocked") {
    if (now !== null || task.blockedReason === null) return [];
    const reason = `${letter.file} was deleted`;
    return [{ type: "task.unblocked", task: task.id, reason, timeoutMs: null, by: "person" }];
  }
  if (task.question === null || task.question.answer !== null || now === null) return [];
  const answer = now.sha256 === letter.sha256 ? "" : readAnswer(now.text);
  return answer === "" ? [] : [{ type: "question.answered", task: task.id, answer, by: "person" }];
}

function samePlan(a: Plan, b: Plan | null): boolean {
  return a === b || (b !== null && JSON.stringify(a) === JSON.stringify(b));
}

/** The first look of a run. */
export async function observe(ports: Ports, journal: Journal): Promise<void> {
  if (!isOpen(journal.state.run)) return;
  await journal.record(...(await lookAround(ports, journal.state)));
}

/** Answers a question with its default, unless a last look shows that a person has answered. */
export async function takeDefault(
  effect: EffectOf<"take-default">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  await journal.admit((state) => {
    const answered = defaultAnswer(state, effect.task, ports.clock.now());
    return answered && [answered];
  });
}

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

/** Ends the run, unless a last look shows that a person has given us something to do. */
export async function endRun(_effect: EffectOf<"end-run">, ports: Ports, journal: Journal): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  await journal.admit((state) => {
    const ending = decide(state, ports.clock.now()).effects.find((wanted) => wanted.kind === "end-run");
    if (!isOpen(state.run) || ending === undefined) return null;
    return [{ type: "run.ended", run: state.run.id, outcome: ending.outcome, reason: ending.reason }];
  });
}
