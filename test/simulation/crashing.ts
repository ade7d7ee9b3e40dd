import type { Ports } from "../../src/engine/ports.ts";

/** Where an engine dies: before or after its n-th call to the outside. */
export interface CrashPoint {
  readonly call: number;
  readonly side: "before" | "after";
}

/** What counts as a place to crash: appends, calls to the outside, or the steps inside those that take time. */
export type CrashSites = "appends" | "calls" | "steps";

/** One process of ours: once dead, nothing it calls ever answers again, and nothing it does takes place. */
export class Life {
  readonly died: Promise<"died">;
  calls = 0;
  #die: (how: "died") => void = () => {};
  #dead = false;
  readonly #point: CrashPoint | null;
  readonly #sites: CrashSites;

  constructor(point: CrashPoint | null, sites: CrashSites) {
    this.#point = point;
    this.#sites = sites;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  get isDead(): boolean {
    return this.#dead;
  }

  kill(): void {
    this.#dead = true;
    this.#die("died");
  }

  /** The same ports, with this life between the engine and the world. */
  mortal(ports: Ports): Ports {
    const { log, source, agents, workspace, beside, gates, letters, notes } = ports;
    return {
      ...ports,
      log: this.#wrap(log, ["append"]),
      source: this.#wrap(source),
      agents: this.#wrap(agents),
      workspace: this.#wrap(workspace),
      beside: beside && {
        worktrees: this.#wrap(beside.worktrees),
        merging: this.#wrap(beside.merging),
        checkout: this.#wrap(beside.checkout),
        pullRequests: this.#wrap(beside.pullRequests),
        workspaceAt: (root) => this.#wrap(beside.workspaceAt(root)),
      },
      gates: this.#wrap(gates),
      letters: this.#wrap(letters),
      notes: this.#wrap(notes),
    };
  }

  /** Inside a call that takes time: whoever is dead goes no further. */
  async step(pause: () => Promise<void>): Promise<void> {
    await this.#call(pause, this.#sites === "steps");
  }

  #wrap<T extends object>(port: T, sites: readonly string[] | "all" = "all"): T {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (name === "stories" && typeof member === "object" && member !== null)
          return this.#wrap(member, sites);
        if (typeof member !== "function") return member;
        // It reaches no further than its caller's memory.
        if (name === "markedIn") return (...args: unknown[]): unknown => member.apply(target, args);
        const counts = sites === "all" ? this.#sites === "calls" : sites.includes(String(name));
        return (...args: unknown[]) =>
          this.#call(() => member.apply(target, args) as Promise<unknown>, counts);
      },
    });
  }

  async #call(call: () => Promise<unknown>, counts: boolean): Promise<unknown> {
    if (this.#dead) return forever();
    const number = counts ? ++this.calls : -1;
    const hit = this.#point !== null && number === this.#point.call;
    if (hit && this.#point?.side === "before") {
      this.kill();
      return forever();
    }
    const answer = await call();
    if (hit) this.kill();
    return this.#dead ? forever() : answer;
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
