import type { SessionOwner } from "./sessions.ts";
import { plainTask, type Task } from "../../src/core/plan/task.ts";
import type { Random } from "./random.ts";
import { SimulatedRepository } from "./repository.ts";
import { UNTOUCHED_STORY, type RawStory, type StoryFile } from "./story-file.ts";
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
  /** In the review cycle: iterations that claim what is not finished, … */
  hasty: number;
  /** … that write what they must not into the file with the stories, … */
  forges: number;
  /** … and that write what they may, or nothing, and come to no good end. */
  fumbles: number;
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
  /** The iterations that changed stories against the rules. */
  readonly forgedIn = new Set<number>();
  readonly random: Random;
  readonly time: VirtualTime;
  /** Null where the task file is a plain list. */
  readonly stories: StoryFile | null;

  constructor(random: Random, time: VirtualTime, stories: StoryFile | null = null) {
    this.random = random;
    this.time = time;
    this.stories = stories;
  }

  addTask(
    character: Character,
    needs: number,
    misbehaves: number,
    more: Partial<Pick<TaskTruth, "loops" | "dependsOn" | "hasty" | "forges" | "fumbles">> = {},
    story: RawStory = UNTOUCHED_STORY,
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
      hasty: 0,
      forges: 0,
      fumbles: 0,
      ...more,
    };
    this.tasks.push(truth);
    this.stories?.add({ id, title: `Task ${id}`, dependsOn: truth.dependsOn, ...story });
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

  /** Whether it may pass for done: at the cap a story is approved though its reviewers still object. */
  countsAsDone(id: string): boolean {
    return this.isTrulyDone(id) || (this.stories?.isAutoApproved(id) === true && !this.truth(id).red);
  }

  /** As an agent or a person would. */
  tick(id: string): void {
    this.truth(id).ticked = true;
    this.stories?.alter(id, { passes: true });
  }

  isTicked(id: string): boolean {
    return this.stories === null ? this.truth(id).ticked : this.stories.review(id)?.passes === true;
  }

  /** What the task file shows. */
  plan(): Task[] {
    if (this.stories !== null) return this.stories.tasks();
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
