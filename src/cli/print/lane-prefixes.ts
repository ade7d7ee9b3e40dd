import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import type { TaskId } from "../../core/plan/task.ts";

/** Says to which lane a line belongs: with several of them the order no longer tells. With one it says nothing. */
export class LanePrefixes {
  readonly #lanes = new Map<TaskId, number>();
  readonly #tasks = new Map<number, TaskId>();
  /** What an agent has begun to print, by iteration. */
  readonly #begun = new Map<number, string>();
  #areMany = false;

  see(event: Recorded, { run }: State): void {
    this.#areMany = (run?.settings.lanes ?? 1) > 1;
    if (event.type !== "iteration.started") return;
    this.#lanes.set(event.task, event.lane);
    this.#tasks.set(event.iteration, event.task);
  }

  of(task: TaskId): string {
    if (!this.#areMany) return "";
    const lane = this.#lanes.get(task);
    return lane === undefined ? `[${task}] ` : `[${lane} ${task}] `;
  }

  ofIteration(iteration: number): string {
    return this.of(this.#tasks.get(iteration) ?? "");
  }

  /** The agent's words, set apart from ours; those of several agents line by line. */
  quoted(text: string, iteration: number): string {
    if (!this.#areMany) return quoted(text);
    const [last = "", ...lines] = `${this.#begun.get(iteration) ?? ""}${text}`.split("\n").toReversed();
    this.#begun.set(iteration, last);
    const prefix = this.ofIteration(iteration);
    return lines
      .toReversed()
      .map((line) => `  ${prefix}│ ${line}\n`)
      .join("");
  }

  /** The end of what it printed, if that is no whole line. */
  rest(iteration: number): string {
    const begun = this.#begun.get(iteration) ?? "";
    this.#begun.delete(iteration);
    return begun === "" ? "" : `  ${this.ofIteration(iteration)}│ ${begun}\n`;
  }
}

/** The words of the only agent that runs. */
export function quoted(text: string): string {
  return text.replace(/^/gm, "  │ ").replace(/ {2}│ $/, "");
}
