import { restOf } from "../../core/loop/decide.ts";
import { tasksInScope } from "../../core/loop/select-tasks.ts";
import { isOpen, type State } from "../../core/loop/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import type { Instant } from "../../core/time.ts";
import type { Health } from "../../engine/worker/run-worker.ts";

/** So often at most the same kind of line is said again. */
const AGAIN_MS = 60_000;

/** One line now and then that tells whoever looks whether the worker is well, and why it does nothing. */
export class HealthLine {
  readonly #say: (text: string) => void;
  readonly #isQuiet: boolean;
  #last = "";
  #saidAt = -Infinity;

  constructor(say: (text: string) => void, isQuiet: boolean) {
    this.#say = say;
    this.#isQuiet = isQuiet;
  }

  began(id: string, lanes: number, labels: readonly string[]): void {
    const many = lanes === 1 ? "1 lane" : `${lanes} lanes`;
    if (!this.#isQuiet) this.#say(`worker ${id} is here, with ${many}: ${labels.join(", ")}`);
  }

  trouble(what: string): void {
    this.#say(what);
  }

  show({ state, now, busyLanes }: Health): void {
    const line = sentenceOf(state, now, busyLanes);
    const isDue = performance.now() - this.#saidAt >= AGAIN_MS;
    if (this.#isQuiet || line === this.#last || (busyLanes > 0 && !isDue)) return;
    this.#last = line;
    this.#saidAt = performance.now();
    this.#say(line);
  }
}

function sentenceOf(state: State, now: Instant, busyLanes: number): string {
  const { run, plan } = state;
  if (!isOpen(run) || plan === null) return "waiting for tasks: ralph submit";
  const rest = restOf(state, now);
  if (rest !== null) return `nobody can go on: ${rest.reason}`;
  const statuses = tasksInScope(run, plan).map((task) => statusOf(state, task));
  const count = (wanted: string): number => statuses.filter((status) => status === wanted).length;
  const busy =
    busyLanes === 0 ? "waiting for a task" : busyLanes === 1 ? "1 lane busy" : `${busyLanes} lanes busy`;
  return `${busy} · ${count("done")} of ${statuses.length} done, ${count("doing")} under way, ${count("todo")} to do`;
}
