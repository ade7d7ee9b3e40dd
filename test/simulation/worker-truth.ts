import type { FleetStorage } from "./simulated-fleet.ts";
import type { Life } from "./crashing.ts";
import type { World } from "./world.ts";

/** A machine with a clone, and most of the time a worker in it. */
export class Machine {
  readonly id: string;
  readonly labels: readonly string[];
  readonly lanes: number;
  readonly merges: boolean;
  /** How far its clock is from the right time, and how much too fast it goes. */
  readonly clock: { readonly aheadMs: number; readonly rate: number };
  /** Commits that its clone has, beside what the remote has. */
  readonly commits = new Set<string>();
  /** Its worker; null while there is none. */
  life: Life | null = null;
  stop = new AbortController();
  begunAt = 0;
  /** Until when nothing of the worker runs. */
  frozenUntil = 0;
  /** For how long it stops in the middle of the next thing that it does with git, of the next push or question to the database. */
  readonly freezesMs = { git: 0, push: 0, database: 0 };
  /** Until when it reaches neither the database, nor the remote. */
  noDatabaseUntil = 0;
  noRemoteUntil = 0;

  constructor(about: Pick<Machine, "id" | "labels" | "lanes" | "merges" | "clock">) {
    this.id = about.id;
    this.labels = about.labels;
    this.lanes = about.lanes;
    this.merges = about.merges;
    this.clock = about.clock;
  }

  /** Where a task is worked on here. */
  rootOf(task: string): string {
    return `/${this.id}/${task}`;
  }

  /** A branch of its clone, beside the remote's of the same name. */
  local(branch: string): string {
    return `${this.id}:${branch}`;
  }

  /** The moment at which it stops, if it is to. */
  freezeIn(what: "git" | "push" | "database", now: number): void {
    const forMs = this.freezesMs[what];
    this.freezesMs[what] = 0;
    if (forMs > 0) this.frozenUntil = now + forMs;
  }

  has(root: string | undefined): boolean {
    return root?.startsWith(`/${this.id}/`) === true;
  }
}

export function isLocal(branch: string): boolean {
  return branch.includes(":");
}

/** Who recorded something, and what it held to be allowed to. */
export interface Author {
  readonly worker: string;
  readonly leases: readonly { readonly name: string; readonly number: number }[];
}

/** What is really so where several workers share a run. */
export class Crew {
  readonly leaseMs: number;
  readonly machines: readonly Machine[];
  /** On the remote: by task or part, the greatest number that anybody took it up with. */
  readonly fence = new Map<string, number>();
  readonly fleet: FleetStorage;
  /** By the position of what was recorded; people have none. */
  readonly authors = new Map<number, Author>();
  /** Workers that died in the middle of their work. */
  readonly killed: { readonly worker: string; readonly at: number }[] = [];
  /** Tasks whose agents bring down the worker, until a person has looked. */
  readonly deadly = new Set<string>();
  /** What a worker must have for a task. */
  readonly labels = new Map<string, readonly string[]>();
  databaseAwayUntil = 0;
  /** From then on nobody does any harm. */
  faultsUntil = 0;
  /** When a person last did something. */
  actedAt = 0;

  constructor(machines: readonly Machine[], fleet: FleetStorage, leaseMs: number) {
    this.machines = machines;
    this.fleet = fleet;
    this.leaseMs = leaseMs;
  }

  machine(id: string): Machine {
    const found = this.machines.find((machine) => machine.id === id);
    if (found === undefined) throw new Error(`there is no machine ${id}`);
    return found;
  }

  machineOf(root: string | undefined): Machine | undefined {
    return this.machines.find((machine) => machine.has(root));
  }
}

/** Kills the worker of a machine; with the power its agents go as well. */
export function killWorker(world: World, machine: Machine, how: { readonly withAgents: boolean }): void {
  machine.life?.kill();
  machine.life = null;
  if (!how.withAgents) return;
  for (const process of world.livingProcesses) if (machine.has(process.root)) process.alive = false;
}
