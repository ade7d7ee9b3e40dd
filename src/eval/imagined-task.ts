import { plainTask, type Task } from "../core/plan/task.ts";
import type { Numbers } from "./parameters.ts";
import { normal, Random } from "./random.ts";

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
