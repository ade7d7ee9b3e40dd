import type { SessionOwner } from "./sessions.ts";
import { plainTask, type Task } from "../../src/core/plan.ts";
import type { Random } from "../../src/eval/random.ts";
import { Checkout } from "./checkout.ts";
import { CHECKLIST, idsIn, marksIn, withLine } from "./checklist-text.ts";
import { asideBranch } from "../../src/core/text.ts";
import { branchOf, type LaneTruth } from "./lane-truth.ts";
import { Branches, type Files } from "./branches.ts";
import { UNTOUCHED_STORY, type Guarded, type RawStory, type StoryFile } from "./story-file.ts";
import { CALM, type Weather } from "./weather.ts";
import type { VirtualTime } from "../../src/eval/virtual-time.ts";
import type { Crew } from "./worker-truth.ts";
import { checksOf, flawOf, layoutOf, markOf, versionOf, workText, type CheckText } from "./work-text.ts";

/** The branch that the user has checked out, and that accepted work is brought to. */
export const MAIN = "main";

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
  | "relaxes-settings"
  | "removes-feature"
  | "moves-test"
  | "suppresses"
  | "only-white-space"
  | "tidies"
  | "finds-it-done"
  | "says-it-was-done"
  | "needs-no-change"
  | "speaks-against"
  | "idle";

/** Where it is always the same. */
const NEEDS: Partial<Record<Character, number>> = { "needs-no-change": 0, tidies: 1, "finds-it-done": 1 };

const ASKED: readonly Character[] = ["suppresses", "only-white-space", "names-phantoms"];

/** Somebody other than the agent has said that a claim is right. */
export interface Agreement {
  readonly task: string;
  readonly iteration: number;
  readonly by: "person" | "reader";
}

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
  ticked: boolean;
  /** Whether it is in the list. */
  isListed: boolean;
  /** How often it does not bring the base into its branch, though it was told to. */
  stubborn: number;
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
  /** Where it works; missing: in the user's checkout. */
  readonly root: string | undefined;
  alive: boolean;
}

/** The outside: the repository, the task file, the processes, the inbox files. */
export class World {
  readonly tasks: TaskTruth[] = [];
  readonly processes: AgentProcess[] = [];
  readonly inboxFiles = new Map<string, string>();
  readonly branches = new Branches(MAIN);
  /** The user's checkout. */
  readonly repository = new Checkout(this.branches, "/home", MAIN);
  readonly runsOfIteration = new Map<number, number>();
  /** What agents have heard, by iteration: the prompt, and what came while they ran. */
  readonly prompts = new Map<number, string>();
  readonly sessions = new Map<string, SessionOwner>();
  readonly told = new Map<number, string>();
  /** Checkouts of one commit, by folder. */
  readonly trials = new Map<string, Checkout>();
  #trialsMade = 0;
  /** Who agreed to what, rightly or not. */
  readonly agreements: Agreement[] = [];
  /** The last iteration of each task that was there to write. */
  readonly lastBuilt = new Map<string, number>();
  /** By marker: whether the gates fail with the check files as they were before the task. */
  readonly oldChecksRed = new Map<string, boolean>();
  /** By iteration: the marker of the reader that was asked last. */
  readonly lastReader = new Map<number, string>();
  /** By iteration: what the work was when its agent had ended. */
  readonly doneWhenEnded = new Map<number, boolean>();
  /** What the readings of each iteration have cost. */
  readonly readings = new Map<number, number>();
  readonly guarded: Guarded<readonly Pick<TaskTruth, "id" | "ticked" | "isListed">[]> = {
    kept: null,
    seen: null,
  };
  readonly violations: string[] = [];
  /** The iterations that changed stories against the rules. */
  readonly forgedIn = new Set<number>();
  readonly random: Random;
  readonly time: VirtualTime;
  /** Null where the task file is a plain list. */
  readonly stories: StoryFile | null;
  /** Null where all work happens in place. */
  readonly lanes: LaneTruth | null;
  /** Null where nobody shares the run. */
  crew: Crew | null = null;
  weather: Weather = CALM;
  /** A gate has failed by chance. */
  hasFlaked = false;
  /** How slow its agents are. */
  pace = 1;

  constructor(
    random: Random,
    time: VirtualTime,
    stories: StoryFile | null = null,
    lanes: LaneTruth | null = null,
  ) {
    this.random = random;
    this.time = time;
    this.stories = stories;
    this.lanes = lanes;
  }

  addTask(
    character: Character,
    needs: number,
    misbehaves: number,
    more: Partial<Pick<TaskTruth, "loops" | "dependsOn" | "stubborn" | "hasty" | "forges" | "fumbles">> = {},
    story: RawStory = UNTOUCHED_STORY,
  ): TaskTruth {
    const id = `task-${String(this.tasks.length + 1).padStart(3, "0")}`;
    const truth = {
      id,
      character,
      needs: NEEDS[character] ?? needs,
      misbehaves,
      loops: true,
      dependsOn: [] as readonly string[],
      ticked: false,
      isListed: true,
      stubborn: 0,
      hasty: 0,
      forges: 0,
      fumbles: 0,
      ...more,
      // Whoever has a single attempt is not asked about it.
      ...(ASKED.includes(character) && { loops: true }),
    };
    this.tasks.push(truth);
    if (character === "finds-it-done") {
      this.repository.put(id, workText(truth.needs));
      this.commitByPerson(id);
    }
    this.stories?.add({ id, title: `Task ${id}`, dependsOn: truth.dependsOn, ...story });
    if (this.lanes !== null) this.#addLine(id);
    return truth;
  }

  truth(id: string): TaskTruth {
    const truth = this.tasks.find((task) => task.id === id);
    if (truth === undefined) throw new Error(`no task ${id} in this world`);
    return truth;
  }

  /** On the base; where branches are the result, on its own. */
  isTrulyDone(id: string): boolean {
    const { branches, lanes } = this;
    const branch = lanes?.endsOnBranches ? branchOf(id) : MAIN;
    return this.isDoneIn(branches.files(branches.tip(branch)), id);
  }

  isDoneIn(files: Files, id: string): boolean {
    const { character, needs } = this.truth(id);
    const text = files.get(id);
    if (character === "tidies" && files.has(layoutOf(id))) return flawOf(text) === null;
    return versionOf(text) >= needs && flawOf(text) === null;
  }

  /** Whether the project's check fails on these files. */
  fails(files: Files): boolean {
    const has = (name: string, text: CheckText): boolean =>
      checksOf(name).some((check) => files.get(check) === text);
    const isSeen = ([name, text]: readonly [string, string]): boolean => {
      const mark = markOf(text);
      return (mark === "red" && !has(name, "lax")) || (mark === "removed" && !has(name, "fitting"));
    };
    return [...files].some(isSeen) || this.lanes?.hasClash(files) === true;
  }

  /** The same with check files as they were at a commit. */
  failsWithOldChecks(files: Files, base: string, checks: readonly string[]): boolean {
    const before = this.branches.files(base);
    const old = new Map(files);
    for (const name of checks) {
      const text = before.get(name);
      if (text === undefined) old.delete(name);
      else old.set(name, text);
    }
    return this.fails(old);
  }

  /** … or would, if nobody had weakened or silenced a check. */
  isTrulyRed(files: Files): boolean {
    return this.fails(files) || [...files.values()].some((text) => flawOf(text) !== null);
  }

  /** Whether somebody other than the agent has agreed to the work as it is now; where stories are reviewed, to such work. */
  isAgreed(id: string): boolean {
    const since = this.lastBuilt.get(id) ?? 0;
    // A gate that failed by chance before the task looks as if the task had turned it green.
    if (this.hasFlaked && versionOf(this.filesOfTask(id).get(id)) === 0) return true;
    return this.agreements.some(
      ({ task, iteration, by }) =>
        task === id && (iteration >= since || (by === "person" && this.stories !== null)),
    );
  }

  /** Where somebody works who was told this folder. */
  checkoutAt(root: string | undefined): Checkout {
    if (root === undefined || root === this.repository.root) return this.repository;
    const worktree = [...(this.lanes?.worktrees.values() ?? [])].find((one) => one.root === root);
    if (worktree === undefined) throw new Error(`there is no worktree ${root}`);
    return worktree;
  }

  /** Whether the folder is there. */
  hasPlace(root: string | undefined): boolean {
    const { lanes } = this;
    const isTrial = root !== undefined && this.trials.has(root);
    return (
      root === undefined || isTrial || [...(lanes?.worktrees.values() ?? [])].some((one) => one.root === root)
    );
  }

  filesAt(root: string | undefined): Files {
    return (root === undefined ? undefined : this.trials.get(root)?.files) ?? this.checkoutAt(root).files;
  }

  /** Where its work is, whoever looks at it. */
  filesOfTask(id: string): Files {
    const own = this.lanes === null ? asideBranch(id) : branchOf(id);
    const tip = this.branches.tip(own);
    return tip === null ? this.repository.files : this.branches.files(tip);
  }

  /** Counts from 1. */
  nextTrial(): number {
    this.#trialsMade += 1;
    return this.#trialsMade;
  }

  openTrial(root: string, commit: string): void {
    this.trials.set(root, new Checkout(this.branches, root, MAIN, commit));
  }

  /** Whether it may pass for done: at the cap a story is approved though its reviewers still object. */
  countsAsDone(id: string): boolean {
    const isRed = flawOf(this.repository.files.get(id)) !== null;
    const isLetPass = this.stories?.isAutoApproved(id) === true && !isRed;
    return this.isTrulyDone(id) || isLetPass || this.isAgreed(id);
  }

  /** As an agent or a person would. */
  tick(id: string): void {
    this.truth(id).ticked = true;
    this.stories?.alter(id, { passes: true });
  }

  /** As an agent would, that wants to be rid of it. */
  takeOut(id: string): void {
    this.truth(id).isListed = false;
  }

  isTicked(id: string): boolean {
    if (this.lanes !== null) return marksIn(this.branches.files(this.repository.head)).includes(id);
    return this.stories === null ? this.truth(id).ticked : this.stories.review(id)?.passes === true;
  }

  /** What the task file shows. */
  plan(): Task[] {
    if (this.stories !== null) return this.stories.tasks();
    const { files } = this.repository;
    const shown =
      this.lanes === null
        ? this.tasks.filter(({ isListed }) => isListed)
        : idsIn(files).map((id) => ({ ...this.truth(id), ticked: marksIn(files).includes(id) }));
    return shown.map(({ id, ticked, loops, dependsOn, character }) => {
      const task = { id, title: `Task ${id}`, done: ticked, loops, dependsOn };
      return plainTask(character === "needs-no-change" ? { ...task, changes: "none" } : task);
    });
  }

  /** Work that somebody should have committed. */
  get isDirty(): boolean {
    return this.lanes === null
      ? hasLeftovers(this.repository)
      : [...this.lanes.worktrees.values()].some(hasLeftovers);
  }

  get livingProcesses(): AgentProcess[] {
    return this.processes.filter((process) => process.alive);
  }

  /** A person writes it into the task file, and commits that. */
  #addLine(id: string): void {
    this.repository.put(CHECKLIST, withLine(this.repository.files.get(CHECKLIST), id));
    this.commitByPerson(CHECKLIST);
  }

  commitByPerson(file: string): void {
    this.repository.commit((name) => name === file, "person");
    this.lanes?.committedAt.push(this.time.now());
  }

  violate(sentence: string): void {
    this.violations.push(sentence);
  }
}

/** Changes that an agent's iteration should have ended with committed; the task source is not its business. */
export function hasLeftovers(checkout: Checkout): boolean {
  return checkout.uncommitted().some((name) => !isSecret(name) && name !== CHECKLIST);
}

/** Files that nobody may commit. */
export function isSecret(name: string): boolean {
  return name.endsWith(".env");
}
