import type { RunId } from "../../core/event-shape.ts";
import type { Recorded } from "../../core/events.ts";
import { few } from "../../core/few.ts";
import { outsideWaits } from "../../core/loop/outside-waits.ts";
import { tasksInScope } from "../../core/loop/select-tasks.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import type { Task, TaskId } from "../../core/plan/task.ts";
import type { Style } from "./style.ts";

/** What a person does not know yet of the tasks, after the headline of the run has told the most of it. */
export class PlanNews {
  readonly #style: Style;
  #run: RunId | null = null;
  #tasks: readonly Task[] = [];
  #waits: readonly string[] = [];

  constructor(style: Style) {
    this.#style = style;
  }

  /** Whether the headline of the run was shown before this fact. */
  isBegun(event: Recorded): boolean {
    return event.type === "tasks.observed" && event.run === this.#run;
  }

  of(event: Recorded, state: State): readonly string[] {
    if (event.type !== "tasks.observed" && event.type !== "run.resumed") return [];
    const { run, plan } = state;
    if (run === null || plan === null) return [];
    const tasks = tasksInScope(run, plan);
    const waits = outsideWaits(state, run, plan);
    const changes = this.isBegun(event) ? this.#changes(tasks, plan.source.label, state) : [];
    const isNew = event.run !== this.#run;
    const news = waits.filter((wait) => isNew || !this.#waits.includes(wait));
    this.#run = event.run;
    this.#tasks = tasks;
    this.#waits = waits;
    return [...changes, ...news.map((wait) => this.#style.ask(`! ${wait}`))];
  }

  #changes(tasks: readonly Task[], source: string, state: State): readonly string[] {
    const added = withoutThose(tasks, this.#tasks);
    // What is marked and gone is forgotten: it was done.
    const gone = withoutThose(this.#tasks, tasks).filter(
      (id) => Object.hasOwn(state.tasks, id) && taskState(state, id).completion === null,
    );
    return [
      ...(added.length === 0 ? [] : [`  + new in ${source}: ${few(added)}`]),
      ...(gone.length === 0 ? [] : [`  - gone from ${source}: ${few(gone)}`]),
    ];
  }
}

/** The ids of those to do in one list that are not in the other. */
function withoutThose(tasks: readonly Task[], others: readonly Task[]): readonly TaskId[] {
  const ids = new Set(others.map(({ id }) => id));
  return tasks.filter(({ id, done }) => !done && !ids.has(id)).map(({ id }) => id);
}
