import type { Log, Ports } from "../../src/engine/ports.ts";

/** Where an engine dies: before or after its n-th call to the outside. */
export interface CrashPoint {
  readonly call: number;
  readonly side: "before" | "after";
}

/** What counts as a place to crash: appends, calls to the outside, or the steps inside those that take time. */
export type CrashSites = "appends" | "calls" | "steps";

/** Counts the places at which somebody could die: of one process, or of several together. */
export class CrashPlaces {
  calls = 0;
  readonly sites: CrashSites;
  readonly #point: CrashPoint | null;

  constructor(point: CrashPoint | null, sites: CrashSites) {
    this.#point = point;
    this.sites = sites;
  }

  /** On which side of the next place whoever is there dies; null: on neither. */
  next(): CrashPoint["side"] | null {
    this.calls += 1;
    return this.#point?.call === this.calls ? this.#point.side : null;
  }
}

/** One process of ours: once dead, nothing it calls ever answers again, and nothing it does takes place. */
export class Life {
  readonly died: Promise<"died">;
  #die: (how: "died") => void = () => {};
  #dead = false;
  readonly #places: CrashPlaces;
  readonly #awake: (() => Promise<void>) | null;

  /** `awake` resolves when the process is not stopped, at once most of the time. */
  constructor(places: CrashPlaces, awake: (() => Promise<void>) | null = null) {
    this.#places = places;
    this.#awake = awake;
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
    const { log, source, agents, workspace, parallel, gates, inboxFiles, notes } = ports;
    return {
      ...ports,
      log: this.aroundLog(log),
      source: this.#wrap(source),
      agents: this.#wrap(agents),
      workspace: this.#wrap(workspace),
      parallel: parallel && {
        worktrees: this.#wrap(parallel.worktrees),
        merging: this.#wrap(parallel.merging),
        checkout: this.#wrap(parallel.checkout),
        pullRequests: this.#wrap(parallel.pullRequests),
        workspaceAt: (root) => this.#wrap(parallel.workspaceAt(root)),
      },
      gates: this.#wrap(gates),
      inboxFiles: this.#wrap(inboxFiles),
      notes: this.#wrap(notes),
    };
  }

  aroundLog(log: Log): Log {
    return this.#wrap(log, ["append", "appendDecided"]);
  }

  /** Any other port of a process. */
  around<T extends object>(port: T): T {
    return this.#wrap(port);
  }

  /** Inside a call that takes time: whoever is dead goes no further. */
  async step(pause: () => Promise<void>): Promise<void> {
    await this.#call(pause, this.#places.sites === "steps");
  }

  /** The same, where nobody is made to die. */
  async wait(pause: () => Promise<void>): Promise<void> {
    await this.#call(pause, false);
  }

  #wrap<T extends object>(port: T, sites: readonly string[] | "all" = "all"): T {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if ((name === "stories" || name === "list") && typeof member === "object" && member !== null)
          return this.#wrap(member, sites);
        if (typeof member !== "function") return member;
        // It reaches no further than its caller's memory.
        if (name === "markedIn") return (...args: unknown[]): unknown => member.apply(target, args);
        const counts = sites === "all" ? this.#places.sites === "calls" : sites.includes(String(name));
        return (...args: unknown[]) =>
          this.#call(() => member.apply(target, args) as Promise<unknown>, counts);
      },
    });
  }

  async #call(call: () => Promise<unknown>, counts: boolean): Promise<unknown> {
    if (this.#awake !== null) await this.#awake();
    if (this.#dead) return forever();
    const hit = counts ? this.#places.next() : null;
    if (hit === "before") {
      this.kill();
      return forever();
    }
    const answer = await this.#answerTo(call);
    if (hit === "after") this.kill();
    return this.#dead ? forever() : answer;
  }

  /** What went wrong meanwhile is not heard by the dead, nor by whoever is stopped. */
  async #answerTo(call: () => Promise<unknown>): Promise<unknown> {
    if (this.#awake === null) return call();
    try {
      return await call();
    } catch (error) {
      if (this.#dead) return forever();
      throw error;
    } finally {
      await this.#awake();
    }
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
