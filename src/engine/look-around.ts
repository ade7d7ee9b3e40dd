import type { Event } from "../core/events.ts";
import { isOpen, type Letter, type State, type TaskState } from "../core/loop/state.ts";
import { readAnswer } from "../core/prompt/letters.ts";
import type { Plan } from "../core/plan/task.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { Ports } from "./ports.ts";

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
