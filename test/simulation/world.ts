import { plainTask, type Task } from "../../src/core/plan/task.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** How an agent behaves on a task, until it comes to its senses. */
export type Character =
  | "honest"
  | "commits-itself"
  | "liar"
  | "breaks-gate"
  | "ticks-box"
  | "slow"
  | "crashes"
  | "flaky-service"
  | "asks"
  | "blocks"
  | "leaves-secret"
  | "forges-letters"
  | "idle";

/** What is really so, whatever anybody recorded. */
export interface TaskTruth {
  readonly id: string;
  readonly character: Character;
  /** Units of real work it takes. */
  readonly needs: number;
  /** Iterations in which the agent misbehaves. */
  misbehaves: number;
  /** Units in the work tree, committed or not. */
  units: number;
  /** Units in HEAD. */
  committed: number;
  /** The project's check fails because of this task. */
  red: boolean;
  ticked: boolean;
}

/** A living agent process; it works on even if the engine that started it is dead. */
export interface AgentProcess {
  readonly marker: string;
  readonly iteration: number;
  alive: boolean;
}

/** The outside: the repository, the task file, the processes, the letters. */
export class World {
  readonly tasks: TaskTruth[] = [];
  readonly processes: AgentProcess[] = [];
  readonly letters = new Map<string, string>();
  /** Files that lie there and may not be committed: path and look. */
  readonly secrets = new Map<string, string>();
  readonly runsOfIteration = new Map<number, number>();
  readonly violations: string[] = [];
  head = 0;
  /** Each commit remembers how much of each task it held, so that diffs are real. */
  readonly commits: ReadonlyMap<string, number>[] = [new Map()];
  locked = false;
  readonly random: Random;
  readonly time: VirtualTime;

  constructor(random: Random, time: VirtualTime) {
    this.random = random;
    this.time = time;
  }

  addTask(character: Character, needs: number, misbehaves: number): TaskTruth {
    const id = `task-${String(this.tasks.length + 1).padStart(3, "0")}`;
    const truth = { id, character, needs, misbehaves, units: 0, committed: 0, red: false, ticked: false };
    this.tasks.push(truth);
    return truth;
  }

  truth(id: string): TaskTruth {
    const truth = this.tasks.find((task) => task.id === id);
    if (truth === undefined) throw new Error(`no task ${id} in this world`);
    return truth;
  }

  isTrulyDone(id: string): boolean {
    const { committed, needs, red } = this.truth(id);
    return committed >= needs && !red;
  }

  /** What the task file shows. */
  plan(): Task[] {
    return this.tasks.map(({ id, ticked }) => plainTask({ id, title: `Task ${id}`, done: ticked }));
  }

  get isDirty(): boolean {
    return this.tasks.some((task) => task.units !== task.committed);
  }

  commitAll(): void {
    for (const task of this.tasks) task.committed = task.units;
    this.commits.push(new Map(this.tasks.map((task) => [task.id, task.committed])));
    this.head = this.commits.length - 1;
  }

  /** Tasks whose files differ between two commits. */
  diff(from: number, to: number): string[] {
    const before = this.commits[from];
    const after = this.commits[to];
    return this.tasks.map((task) => task.id).filter((id) => (before?.get(id) ?? 0) !== (after?.get(id) ?? 0));
  }

  get livingProcesses(): AgentProcess[] {
    return this.processes.filter((process) => process.alive);
  }

  violate(sentence: string): void {
    this.violations.push(sentence);
  }
}
