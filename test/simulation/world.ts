import type { SessionOwner } from "./sessions.ts";
import { plainTask, type Task } from "../../src/core/plan/task.ts";
import type { Random } from "./random.ts";
import { SimulatedRepository } from "./repository.ts";
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
  | "limited"
  | "asks"
  | "blocks"
  | "leaves-secret"
  | "forges-letters"
  | "names-phantoms"
  | "weakens-tests"
  | "idle";

/** What is really so, whatever anybody recorded. */
export interface TaskTruth {
  readonly id: string;
  readonly character: Character;
  /** Units of real work it takes. */
  readonly needs: number;
  /** False: it gets a single attempt in a run. */
  readonly loops: boolean;
  readonly dependsOn: readonly string[];
  /** Iterations in which the agent misbehaves. */
  misbehaves: number;
  /** The project's check fails because of this task. */
  red: boolean;
  /** … and does not show, because the tests were weakened. */
  weakened: boolean;
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
  readonly repository = new SimulatedRepository();
  readonly runsOfIteration = new Map<number, number>();
  /** What agents have heard, by iteration: the prompt, and what came while they ran. */
  readonly prompts = new Map<number, string>();
  readonly sessions = new Map<string, SessionOwner>();
  readonly told = new Map<number, string>();
  readonly violations: string[] = [];
  readonly random: Random;
  readonly time: VirtualTime;

  constructor(random: Random, time: VirtualTime) {
    this.random = random;
    this.time = time;
  }

  addTask(
    character: Character,
    needs: number,
    misbehaves: number,
    more: Partial<Pick<TaskTruth, "loops" | "dependsOn">> = {},
  ): TaskTruth {
    const id = `task-${String(this.tasks.length + 1).padStart(3, "0")}`;
    const truth = {
      id,
      character,
      needs,
      misbehaves,
      loops: true,
      dependsOn: [],
      red: false,
      weakened: false,
      ticked: false,
      ...more,
    };
    this.tasks.push(truth);
    return truth;
  }

  truth(id: string): TaskTruth {
    const truth = this.tasks.find((task) => task.id === id);
    if (truth === undefined) throw new Error(`no task ${id} in this world`);
    return truth;
  }

  isTrulyDone(id: string): boolean {
    const { needs, red } = this.truth(id);
    return this.repository.committedVersion(id) >= needs && !red;
  }

  /** What the task file shows. */
  plan(): Task[] {
    return this.tasks.map(({ id, ticked, loops, dependsOn }) =>
      plainTask({ id, title: `Task ${id}`, done: ticked, loops, dependsOn }),
    );
  }

  /** Work that somebody should have committed. */
  get isDirty(): boolean {
    return this.repository.uncommitted().some((name) => !isSecret(name));
  }

  get livingProcesses(): AgentProcess[] {
    return this.processes.filter((process) => process.alive);
  }

  violate(sentence: string): void {
    this.violations.push(sentence);
  }
}

/** Files that nobody may commit. */
export function isSecret(name: string): boolean {
  return name.endsWith(".env");
}
