import { taskState, type State } from "../../src/core/state.ts";
import type { AgentProcess } from "./world.ts";
import type { WorkerWorld } from "./worker-worlds.ts";

/** How long it may take until an agent is ended that is its worker's no longer. */
const GRACE_MS = 6_000;

/** An agent whose task is in other hands does not work on for long, as long as there is a worker to end it. */
export class LeftoverWatch {
  readonly #around: WorkerWorld;
  readonly #since = new Map<AgentProcess, number>();

  constructor(around: WorkerWorld) {
    this.#around = around;
  }

  look(state: State): void {
    const { world, crew } = this.#around;
    const now = world.time.now();
    for (const process of world.livingProcesses) {
      const machine = crew.machineOf(process.root);
      const open = state.iterations.find(({ number }) => number === process.iteration);
      const isOwn =
        open !== undefined && !open.orphaned && taskState(state, open.task).holder?.worker === machine?.id;
      const isWatched = machine !== undefined && machine.life !== null && now > machine.frozenUntil;
      if (isOwn || !isWatched) this.#since.delete(process);
      else if (!this.#since.has(process)) this.#since.set(process, now);
      const since = this.#since.get(process) ?? now;
      if (now - since <= GRACE_MS) continue;
      this.#since.set(process, Infinity);
      world.violate(`the agent of iteration ${process.iteration} works on, and is nobody's any more`);
    }
  }
}
