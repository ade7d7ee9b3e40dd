import { agentNow } from "../../core/loop/agent-for.ts";
import { ownerOf } from "../../core/loop/effect-owner.ts";
import type { Effect } from "../../core/loop/effects.ts";
import { isOpen, type State } from "../../core/loop/state.ts";
import type { Task, TaskId } from "../../core/plan/task.ts";
import type { Instant } from "../../core/time.ts";
import type { Offer } from "../fleet-ports.ts";

/** So many at a time are enough for everybody; the others come when these are taken. */
const OFFERS_MAX = 300;

/** Every task that somebody should be working on, the most urgent first: what is begun, then what may begin. */
export function offersOf(effects: readonly Effect[], state: State, now: Instant): readonly Offer[] {
  const { run, plan } = state;
  if (!isOpen(run) || plan === null) return [];
  const tasks = new Map(plan.tasks.map((task) => [task.id, task]));
  const ids = new Set<TaskId>([
    ...state.iterations.map(({ task }) => task),
    ...effects.filter(({ kind }) => kind === "iterate").map((effect) => ownerOf(effect, state)),
  ]);
  return [...ids]
    .slice(0, OFFERS_MAX)
    .map((task, rank) => ({ task, rank, labels: labelsOf(tasks.get(task), state, now) }));
}

/** The different sets of labels, each once. */
export function labelsNeeded(offers: readonly Offer[]): readonly (readonly string[])[] {
  return [...new Map(offers.map(({ labels }) => [JSON.stringify(labels), labels])).values()];
}

function labelsOf(task: Task | undefined, state: State, now: Instant): readonly string[] {
  if (task === undefined || state.run === null) return [];
  const agent = `agent:${agentNow(state, task, state.run.settings, now)}`;
  return [...new Set([agent, ...(task.labels ?? [])])].toSorted();
}
