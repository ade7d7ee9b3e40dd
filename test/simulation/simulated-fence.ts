import { RalphError } from "../../src/core/errors.ts";
import type { Crew, Machine } from "./worker-truth.ts";
import { checkPush } from "./push-invariants.ts";
import type { World } from "./world.ts";

export interface FenceParts {
  readonly world: World;
  readonly crew: Crew;
  readonly machine: Machine;
  /** The number of the lease under which a task or part is held; null when it is not. */
  readonly numberOf: (name: string) => number | null;
  readonly step: () => Promise<void>;
  /** False: the remote takes whatever comes. */
  readonly isFenced: boolean;
}

export interface Move {
  readonly branch: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** What one process of a worker pushes; the remote refuses whoever was taken over. */
export class SimulatedFence {
  readonly #parts: FenceParts;
  readonly #known = new Map<string, number>();

  constructor(parts: FenceParts) {
    this.#parts = parts;
  }

  /** True: it was not so before, by this lease. */
  async takeUp(name: string): Promise<boolean> {
    const { crew, numberOf, step } = this.#parts;
    const number = numberOf(name);
    if (number === null) throw lost(name);
    if (this.#known.get(name) === number) return false;
    await step();
    if ((crew.fence.get(name) ?? 0) >= number) throw lost(name);
    crew.fence.set(name, number);
    this.#known.set(name, number);
    await step();
    return true;
  }

  /** All of the moves, or none. `arrived` is called at the very moment. */
  async push(name: string, moves: readonly Move[], arrived: () => void = () => {}): Promise<boolean> {
    const { world, crew, machine, numberOf, step, isFenced } = this.#parts;
    const number = this.#known.get(name);
    if (number === undefined || numberOf(name) !== number) throw lost(name);
    machine.freezeIn("push", world.time.now());
    await step();
    if (isFenced && crew.fence.get(name) !== number) throw lost(name);
    if (moves.some(({ branch, from }) => world.branches.tip(branch) !== from)) return false;
    checkPush(world, crew, machine, { name, number });
    for (const { branch, to } of moves) world.branches.move(branch, to);
    arrived();
    await step();
    return true;
  }
}

export function lost(name: string): RalphError {
  return new RalphError("lease-lost", `${name} is in other hands by now`);
}
