import { type TaskId, plainTask, type Task } from "../core/plan.ts";
import type { Evidence, ChangeSet } from "../core/verdict/evidence.ts";
import { behave, NO_WORK, type Behaviour, type Work, hearPrompt } from "./imagined-agent.ts";
import type { Numbers } from "./parameters.ts";
import { Random, normal } from "./random.ts";
import { VirtualTime } from "./virtual-time.ts";

/** What is really so after an iteration, whatever anybody says. */
interface IterationTruth {
  readonly iteration: number;
  readonly task: TaskId;
  readonly takenMs: number;
  /** Files that it really wrote. */
  readonly files: number;
  /** Whether the task was done, all of it and unbroken. */
  readonly isDone: boolean;
}

/** Of a reader, so that no agent has the same. */
const READERS_LUCK = 100_000;

function testOf(id: TaskId): string {
  return `test/${id}.test.ts`;
}

/** One project with its agents, in virtual time. */
export class ImaginedWorld {
  readonly time = new VirtualTime();
  readonly repository = new ImaginedRepository();
  readonly tasks: readonly ImaginedTask[];
  readonly marked = new Set<TaskId>();
  readonly inboxFiles = new Map<string, string>();
  readonly truths: IterationTruth[] = [];
  readonly #numbers: Numbers;
  readonly #seed: number;
  readonly #work = new Map<TaskId, Work>();
  readonly #begun = new Map<TaskId, number>();
  readonly #read = new Map<TaskId, number>();
  readonly #taskOfMarker = new Map<string, TaskId>();

  constructor(seed: number, numbers: Numbers) {
    this.#seed = seed;
    this.#numbers = numbers;
    this.tasks = imagineTasks(seed, numbers);
  }

  imagined(id: TaskId): ImaginedTask {
    const found = this.tasks.find(({ task }) => task.id === id);
    if (found === undefined) throw new Error(`no task ${id} in this world`);
    return found;
  }

  isDone(id: TaskId): boolean {
    const { doneMs, isBroken } = this.#workOn(id);
    return doneMs >= this.imagined(id).needsMs && !isBroken;
  }

  /**
   * Tasks whose tests fail when the gates run for the agent with this marker, or for nobody: its own, and those that
   * were left in a state that hurts the others. Nothing is red of which nothing is there. `isOld`: with the tests as
   * they were, which are not weakened, and know nothing of what the task asks for.
   */
  failingTasks(marker: string, isOld = false): readonly TaskId[] {
    const own = this.#taskOfMarker.get(marker);
    return this.tasks
      .filter(({ task, isCovered, breaksOthers }) => isCovered && (task.id === own || breaksOthers))
      .filter(({ task: { id }, changesTests }) => {
        const { doneMs, hides } = this.#workOn(id);
        if (isOld && id === own && changesTests === "rightly") return true;
        return doneMs > 0 && !this.isDone(id) && (isOld ? hides !== "silenced" : hides === null);
      })
      .map(({ task }) => task.id);
  }

  /** What the work on a task makes one doubt. */
  doubtsAbout(id: TaskId): Required<Pick<Evidence, "checkFiles" | "suppressions">> {
    const { hides, suppresses } = this.#workOn(id);
    const { changesTests, needsMs, files } = this.imagined(id);
    const isChanged = hides === "weakened" || (changesTests !== null && this.#workOn(id).doneMs >= needsMs);
    return {
      checkFiles: isChanged ? [testOf(id)] : [],
      suppressions: suppresses || hides === "silenced" ? files.slice(0, 1) : [],
    };
  }

  /** A second reader: what it says of a task's work, right or wrong; null when it gives no answer. */
  read(id: TaskId): { readonly takesMs: number; readonly isContent: boolean | null } {
    const random = Random.of(this.#seed, this.imagined(id).number, READERS_LUCK + counted(this.#read, id));
    const [fails, errs] = [random.next(), random.next()];
    const { readerErrs, readerFails, readerSeconds } = this.#numbers;
    const isContent = errs < readerErrs ? !this.isDone(id) : this.isDone(id);
    return { takesMs: readerSeconds * 1_000, isContent: fails < readerFails ? null : isContent };
  }

  priceOf(takenMs: number): number {
    return (takenMs / 60_000) * this.#numbers.usdPerMinute;
  }

  begin(id: TaskId, marker: string, prompt: string): Behaviour {
    this.#taskOfMarker.set(marker, id);
    const imagined = this.imagined(id);
    const situation = { imagined, work: this.#workOn(id), heard: hearPrompt(prompt), numbers: this.#numbers };
    return behave(situation, Random.of(this.#seed, imagined.number, counted(this.#begun, id)));
  }

  /** The agent is gone after so long; what it did stands in the workspace. */
  end(id: TaskId, iteration: number, behaviour: Behaviour, takenMs: number): void {
    const before = this.#workOn(id);
    const after = behaviour.leaves(takenMs);
    this.#work.set(id, after);
    const files = after.wasEmptyHanded ? 0 : this.#write(id, behaviour.beginsAnew ? NO_WORK : before, after);
    this.truths.push({ iteration, task: id, takenMs, files, isDone: this.isDone(id) });
  }

  /** Files come one after another as the work goes on; one is written again by who goes on in it or mends it. */
  #write(id: TaskId, before: Work, after: Work): number {
    const { files, needsMs } = this.imagined(id);
    const countOf = ({ doneMs }: Work): number => Math.ceil((files.length * doneMs) / needsMs);
    const isTouched = after.doneMs > before.doneMs || before.isBroken !== after.isBroken;
    const written = isTouched ? files.slice(Math.max(0, countOf(before) - 1), countOf(after)) : [];
    if (after.hides === "weakened" && before.hides !== "weakened") written.push(testOf(id));
    for (const path of written) this.repository.write(path, `written ${this.truths.length} iterations in`);
    return written.length;
  }

  #workOn(id: TaskId): Work {
    return this.#work.get(id) ?? NO_WORK;
  }
}

function counted(times: Map<TaskId, number>, id: TaskId): number {
  const count = (times.get(id) ?? 0) + 1;
  times.set(id, count);
  return count;
}

/** A task as the world knows it; the loop sees only the task itself. */
export interface ImaginedTask {
  readonly task: Task;
  readonly kind: "backend" | "ui";
  /** Counts from 1. */
  readonly number: number;
  /** How long an undisturbed agent works on it. */
  readonly needsMs: number;
  /** What it changes when it is done. */
  readonly files: readonly string[];
  /** Whether tests notice that it is broken, or half done. */
  readonly isCovered: boolean;
  /** Whether, given up half done or broken, it makes the tests fail for others too. */
  readonly breaksOthers: boolean;
  /** What honest work does to the tests that were there: what they forbid is asked for, or they lie elsewhere now. */
  readonly changesTests: "rightly" | "moves" | null;
}

/** All tasks of one project, in the order of production: the backend first, then the screens. */
export function imagineTasks(seed: number, numbers: Numbers): readonly ImaginedTask[] {
  const count = numbers.backendTasks + numbers.uiTasks;
  return Array.from({ length: count }, (_, index) => imagineTask(seed, index + 1, numbers));
}

function imagineTask(seed: number, number: number, numbers: Numbers): ImaginedTask {
  const random = Random.of(seed, number, 0);
  const isUi = number > numbers.backendTasks;
  const middle = numbers.uiSeconds / (isUi ? 1 : numbers.uiTimes);
  const seconds = middle * Math.exp(normal(random) * (isUi ? numbers.uiSpread : numbers.backendSpread));
  const id = `task-${String(number).padStart(3, "0")}`;
  const isTold = random.chance(numbers.keywordShare);
  const files = random.between(1, 2 * (isUi ? numbers.uiFiles : numbers.backendFiles) - 1);
  const title = random.pick(isUi ? (isTold ? UI_TITLES : UNTOLD_TITLES) : BACKEND_TITLES);
  return {
    task: plainTask({ id, title: `${title} ${number}` }),
    kind: isUi ? "ui" : "backend",
    number,
    needsMs: Math.round(seconds * 1_000),
    files: Array.from({ length: files }, (_, at) => `src/${id}/part-${at + 1}.ts`),
    isCovered: random.chance(numbers.gateCoverage),
    breaksOthers: random.chance(numbers.leftoversBreak),
    changesTests: random.chance(numbers.removesFeature)
      ? "rightly"
      : random.chance(numbers.movesTests)
        ? "moves"
        : null,
  };
}

const UI_TITLES = [
  "Analytics Dashboard for accounts, part",
  "Chart of daily figures, part",
  "Diagnostics View, part",
  "UI of the report filter, part",
  "SwiftUI list of events, part",
];
/** Screens too, but no keyword says so. */
const UNTOLD_TITLES = ["Screen with the trends, part", "Panel of diagnostics, part"];
const BACKEND_TITLES = [
  "Fix the token store, part",
  "Refactor the session service, part",
  "Import of accounts, part",
  "Update the audit trail, part",
  "Mock of the billing service, part",
];

/** A work tree with one line of commits; whatever lies in the tree is committed when somebody asks. */
class ImaginedRepository {
  readonly #commits: ReadonlyMap<string, string>[] = [new Map()];
  readonly #tree = new Map<string, string>();

  get head(): string {
    return String(this.#commits.length - 1);
  }

  write(path: string, text: string): void {
    this.#tree.set(path, text);
  }

  commit(): void {
    if (this.changedSince(this.head).files > 0) this.#commits.push(new Map(this.#tree));
  }

  /** Nobody removes a file here. */
  changedSince(commit: string | null): ChangeSet {
    const before = this.#commits[Number(commit ?? 0)];
    const paths = [...this.#tree.keys()].filter((path) => this.#tree.get(path) !== before?.get(path));
    return { files: paths.length, paths };
  }
}
