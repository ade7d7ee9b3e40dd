import type { TaskId } from "../core/plan/task.ts";
import { behave, NO_WORK, type Behaviour, type Work } from "./imagined-agent.ts";
import { ImaginedRepository } from "./imagined-repository.ts";
import { imagineTasks, type ImaginedTask } from "./imagined-task.ts";
import { hearPrompt } from "./hear-prompt.ts";
import type { Numbers } from "./parameters.ts";
import { Random } from "./random.ts";
import { VirtualTime } from "./virtual-time.ts";

/** What is really so after an iteration, whatever anybody says. */
export interface IterationTruth {
  readonly iteration: number;
  readonly task: TaskId;
  readonly takenMs: number;
  /** Files that it really wrote. */
  readonly files: number;
  /** Whether the task was done, all of it and unbroken. */
  readonly isDone: boolean;
  /** It brought the task further. */
  readonly isFurther: boolean;
  readonly beganAnew: boolean;
}

/** One project with its agents, in virtual time. */
export class ImaginedWorld {
  readonly time = new VirtualTime();
  readonly repository = new ImaginedRepository();
  readonly tasks: readonly ImaginedTask[];
  readonly marked = new Set<TaskId>();
  readonly letters = new Map<string, string>();
  readonly truths: IterationTruth[] = [];
  readonly #numbers: Numbers;
  readonly #seed: number;
  readonly #work = new Map<TaskId, Work>();
  readonly #begun = new Map<TaskId, number>();
  readonly #taskOfMarker = new Map<string, TaskId>();

  constructor(seed: number, numbers: Numbers) {
    this.#seed = seed;
    this.#numbers = numbers;
    this.tasks = imagineTasks(seed, numbers);
  }

  imagined(id: TaskId): ImaginedTask {
    const found = this.tasks.find(({ task }) => task.id === id);
    if (found === undefined) throw new Error(`no task ${id} in this world`);
    return found;
  }

  isDone(id: TaskId): boolean {
    const { doneMs, isBroken } = this.#workOn(id);
    return doneMs >= this.imagined(id).needsMs && !isBroken;
  }

  /**
   * Tasks whose tests fail when the gates run for the agent with this marker, or for nobody: its own, and those that
   * were left in a state that hurts the others. Nothing is red of which nothing is there.
   */
  failingTasks(marker: string): readonly TaskId[] {
    const own = this.#taskOfMarker.get(marker);
    return this.tasks
      .filter(({ task, isCovered, breaksOthers }) => isCovered && (task.id === own || breaksOthers))
      .map(({ task }) => task.id)
      .filter((id) => this.#workOn(id).doneMs > 0 && !this.isDone(id));
  }

  priceOf(takenMs: number): number {
    return (takenMs / 60_000) * this.#numbers.usdPerMinute;
  }

  begin(id: TaskId, marker: string, prompt: string): Behaviour {
    this.#taskOfMarker.set(marker, id);
    const times = (this.#begun.get(id) ?? 0) + 1;
    this.#begun.set(id, times);
    const imagined = this.imagined(id);
    const situation = {
      imagined,
      work: this.#workOn(id),
      heard: hearPrompt(prompt),
      numbers: this.#numbers,
    };
    return behave(situation, Random.of(this.#seed, imagined.number, times));
  }

  /** The agent is gone after so long; what it did stands in the workspace. */
  end(id: TaskId, iteration: number, behaviour: Behaviour, takenMs: number): void {
    const before = this.#workOn(id);
    const after = behaviour.leaves(takenMs);
    const isFurther = after.doneMs > before.doneMs || (before.isBroken && !after.isBroken);
    this.#work.set(id, after);
    const files = after.wasEmptyHanded ? 0 : this.#write(id, behaviour.beginsAnew ? NO_WORK : before, after);
    this.truths.push({
      iteration,
      task: id,
      takenMs,
      files,
      isDone: this.isDone(id),
      isFurther: isFurther || behaviour.beginsAnew,
      beganAnew: behaviour.beginsAnew,
    });
  }

  /** Files come one after another as the work goes on; one is written again by who goes on in it or mends it. */
  #write(id: TaskId, before: Work, after: Work): number {
    const { files, needsMs } = this.imagined(id);
    const countOf = ({ doneMs }: Work): number => Math.ceil((files.length * doneMs) / needsMs);
    const isTouched = after.doneMs > before.doneMs || before.isBroken !== after.isBroken;
    const written = isTouched ? files.slice(Math.max(0, countOf(before) - 1), countOf(after)) : [];
    for (const path of written) this.repository.write(path, `written ${this.truths.length} iterations in`);
    return written.length;
  }

  #workOn(id: TaskId): Work {
    return this.#work.get(id) ?? NO_WORK;
  }
}
