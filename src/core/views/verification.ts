import type { EventOf, EventType, Recorded } from "../events.ts";
import type { SourceIdentity, TaskId } from "../plan.ts";
import {
  compareWithBaseline,
  isFailing,
  outcomeOf,
  redGates,
  whyMissing,
  type GateResult,
} from "../verdict/checked-gate.ts";
import type { CheckedGate, GateOutcome } from "../verdict/checked-gate.ts";
import type { GateSettings } from "../settings.ts";
import { DETACHED, few } from "../text.ts";
import { formatDuration, isoTime } from "../time.ts";
import { snakeCase } from "../wire.ts";
import { count, shortCommit } from "./explain-words.ts";

/** What was accepted, as far as git can tell what became of it. */
export interface AcceptedWork {
  readonly commit: string | null;
  readonly base: string | null;
  readonly paths: readonly string[];
}

/** What became of it. */
export interface WorkToday {
  /** Where the accepted commit is: nobody recorded one, or it is no longer in the repository. */
  readonly commit: "in-history" | "elsewhere" | "gone" | "none";
  /** Paths that are back as they were before the task. */
  readonly undone: readonly string[];
  /** Paths that are no longer there. */
  readonly gone: readonly string[];
  /** What gates judge by, and was changed since the accepted commit. */
  readonly checkFiles: readonly string[];
}

/** One thing that was checked again. */
export interface Check {
  /** `history`, `work`, `gate:<name>` or `old-checks`. */
  readonly check: string;
  readonly status: "well" | "warning" | "failed";
  readonly sentence: string;
  /** The end of what a failing gate printed. */
  readonly output?: string;
}

export type Completion = Recorded<EventOf<"task.completed">>;

export const ACCEPTANCE_EVENTS = ["task.completed", "task.merged", "task.undone"] as const;

/** The last acceptance of a task; what was merged counts as the base has it. Null when there is none, or no more. */
export function lastAcceptance(events: readonly Recorded[]): Completion | null {
  let last: Completion | null = null;
  for (const event of events) {
    if (event.type === "task.completed") last = event;
    if (event.type === "task.undone") last = null;
    if (event.type === "task.merged" && last !== null) last = asMerged(last, event);
  }
  return last;
}

function asMerged(completion: Completion, { from, to }: EventOf<"task.merged">): Completion {
  return { ...completion, commit: to, certificate: { ...completion.certificate, base: from } };
}

export function workOf({ commit, certificate }: Completion): AcceptedWork {
  return { commit, base: certificate.base, paths: certificate.changed.paths };
}

export function checkWork(completion: Completion, today: WorkToday): readonly Check[] {
  return [historyCheck(completion, today), ...workChecks(completion, today)];
}

function historyCheck({ commit }: Completion, today: WorkToday): Check {
  const name = commit === null ? "" : `the accepted commit ${shortCommit(commit)}`;
  const check = "history";
  switch (today.commit) {
    case "in-history":
      return { check, status: "well", sentence: `${name} is in the history of HEAD` };
    case "elsewhere": {
      const why = "it was rewritten, or another branch is checked out";
      return { check, status: "failed", sentence: `${name} is not in the history of HEAD: ${why}` };
    }
    case "gone":
      return { check, status: "failed", sentence: `${name} is no longer in the repository` };
    case "none":
      return { check, status: "warning", sentence: "no commit was recorded with the acceptance" };
  }
}

function workChecks({ certificate }: Completion, { undone, gone }: WorkToday): readonly Check[] {
  const { paths, files } = certificate.changed;
  const lost = undone.length + gone.length;
  const check = "work";
  if (paths.length === 0) return [];
  if (lost === 0)
    return [{ check, status: "well", sentence: `the work is still there (${count(files, "file")})` }];
  const details = [
    ...(undone.length === 0 ? [] : [`back as before the task: ${few(undone, 10)}`]),
    ...(gone.length === 0 ? [] : [`no longer there: ${few(gone, 10)}`]),
  ].join("; ");
  return lost >= paths.length
    ? [{ check, status: "failed", sentence: `nothing is left of the work; ${details}` }]
    : [{ check, status: "warning", sentence: `part of the work is gone; ${details}` }];
}

/** The gates with the check files as they were at the acceptance. The task's own must still hold. */
export function checkOldChecks(
  { certificate }: Completion,
  { checkFiles }: WorkToday,
  settings: readonly GateSettings[],
  results: readonly GateResult[],
): Check {
  const red = redGates(compareWithBaseline(results, settings, certificate.gates));
  const said = (what: string): string =>
    `with the checks as they were accepted, ${what} (changed since: ${few(checkFiles, 5)})`;
  const check = "old-checks";
  if (red.length === 0) return { check, status: "well", sentence: said("the gates pass") };
  const isOwn = checkFiles.some((path) => certificate.changed.paths.includes(path));
  const names = red.map(({ name, failures }) =>
    failures.length === 0 ? `gate "${name}" fails` : `gate "${name}" fails: ${few(failures)}`,
  );
  return { check, status: isOwn ? "failed" : "warning", sentence: said(names.join("; ")) };
}

/** The gates today against the gates at the acceptance. */
export function checkGates(
  { certificate }: Completion,
  settings: readonly GateSettings[],
  results: readonly GateResult[],
): readonly Check[] {
  const gates = compareWithBaseline(results, settings, certificate.gates);
  const red = new Set(redGates(gates).map(({ name }) => name));
  return gates.map((gate) => gateCheck(gate, red.has(gate.name)));
}

function gateCheck(gate: CheckedGate, isRed: boolean): Check {
  const check = `gate:${gate.name}`;
  const name = `gate "${gate.name}"`;
  if (gate.status === "passed")
    return { check, status: "well", sentence: `${name} passes (${formatDuration(gate.durationMs)})` };
  const failing = gate.failures.length === 0 ? "" : `; failing: ${few(gate.failures, 10)}`;
  return {
    check,
    status: isRed ? "failed" : "warning",
    sentence: `${name} ${howNow(gate)}; ${howThen(gate.baseline)}${failing}`,
    ...(isFailing(gate.status) && { output: gate.tail }),
  };
}

function howNow(gate: CheckedGate): string {
  switch (gate.status) {
    case "timeout":
      return "does not finish in time now";
    case "missing":
    case "skipped":
      return `can't run: ${whyMissing(gate)}`;
    default:
      return `fails now (${gate.unmet ?? `exit ${gate.exitCode ?? "unknown"}`})`;
  }
}

function howThen(then: GateOutcome | null): string {
  if (then === null) return "it was not asked when the task was accepted";
  if (then.status === "passed") return "it passed when the task was accepted";
  return isFailing(then.status)
    ? "it failed when the task was accepted, too"
    : "what it runs was not installed when the task was accepted, either";
}

export function isVerified(checks: readonly Check[]): boolean {
  return checks.every(({ status }) => status !== "failed");
}

/** What `ralph verify --json` prints. */
export function verificationJson(
  completion: Completion,
  checks: readonly Check[],
  extra: { readonly uncommitted: readonly string[]; readonly gates: readonly GateResult[] },
): Record<string, unknown> {
  const { task, run, iteration, at, commit, certificate } = completion;
  return {
    schema: "ralph.verify.v1",
    verified: isVerified(checks),
    task,
    run,
    iteration,
    accepted_at: isoTime(at),
    commit,
    certificate: snakeCase(certificate),
    checks,
    uncommitted: extra.uncommitted,
    gates: snakeCase(extra.gates.map(outcomeOf)),
  };
}

/** Accepted work as it is on a branch of the user's, to be taken back. */
export interface Undoable {
  readonly run: string;
  readonly task: TaskId;
  readonly iteration: number;
  /** Null: HEAD was on none. */
  readonly base: string | null;
  /** The commits it consists of, the latest first; between them are those of others. */
  readonly spans: readonly Span[];
  /** Where the work was done; null in place. */
  readonly branch: string | null;
  /** Where the task is marked. */
  readonly source: SourceIdentity | null;
}

/** What led from one commit to another; null: from nothing. */
export interface Span {
  readonly from: string | null;
  readonly to: string;
}

type UnderWay = Pick<Undoable, "base" | "branch" | "spans">;

/** What was accepted so far, the latest last, and what is under way. */
class AcceptedWorks {
  source: SourceIdentity | null = null;
  all: readonly Undoable[] = [];
  readonly #underWay = new Map<TaskId, UnderWay>();

  of(task: TaskId): UnderWay {
    return this.#underWay.get(task) ?? { base: null, branch: null, spans: [] };
  }

  change(task: TaskId, part: Partial<UnderWay>): void {
    this.#underWay.set(task, { ...this.of(task), ...part });
  }

  accept({ run, task, iteration }: EventOf<"task.completed" | "task.merged">): void {
    this.all = [...this.all, { run, task, iteration, source: this.source, ...this.of(task) }];
    this.#underWay.delete(task);
  }

  forget(task: TaskId): void {
    this.#underWay.delete(task);
  }
}

type Fold<Type extends EventType> = (works: AcceptedWorks, event: EventOf<Type>) => void;

const FOLDS: { readonly [Type in EventType]?: Fold<Type> } = {
  "tasks.observed": (works, { plan }) => {
    works.source = plan.source;
  },
  "worktree.opened": (works, { task, base, branch }) => works.change(task, { base, branch }),
  "worktree.removed": (works, { task }) => works.forget(task),
  "iteration.started": (works, { task, branch }) => {
    if (works.of(task).branch === null) works.change(task, { base: branch });
  },
  "evidence.collected": (works, { task, evidence: { headBefore: from, headAfter: to } }) => {
    const { spans } = works.of(task);
    if (to === null || from === to) return;
    const [latest, ...earlier] = spans;
    const continues = latest !== undefined && latest.to === from;
    works.change(task, {
      spans: continues ? [{ from: latest.from, to }, ...earlier] : [{ from, to }, ...spans],
    });
  },
  "task.completed": (works, event) => {
    if (works.of(event.task).branch === null) works.accept(event);
  },
  "task.merged": (works, event) => {
    const { task, from, to } = event;
    if (from === to) return;
    works.change(task, { spans: [{ from, to }] });
    works.accept(event);
  },
  "task.undone": (works, { task }) => {
    works.forget(task);
    const at = works.all.findLastIndex((one) => one.task === task);
    works.all = works.all.filter((_, index) => index !== at);
  },
  "task.reset": (works, { task }) => works.forget(task),
  "work.left": (works, { task }) => works.change(task, { spans: [] }),
  "work.refused": (works, { task }) => works.change(task, { spans: [] }),
  "work.returning": (works, { task, branch, from, to }) =>
    works.change(task, {
      base: branch === DETACHED ? null : branch,
      spans: from === to ? [] : [{ from, to }],
    }),
  "work.discarded": (works, { task }) => works.change(task, { spans: [] }),
};

export const UNDOABLE_EVENTS = Object.keys(FOLDS) as readonly EventType[];

/** What was accepted in place or merged last, of this task if one is named, and has not been taken back since. */
export function lastUndoable(events: readonly Recorded[], task: TaskId | null = null): Undoable | null {
  return acceptedWorks(events).findLast((one) => task === null || one.task === task) ?? null;
}

/** From before the first work that this run has accepted to after the last; null where there is none. */
export function acceptedRange(events: readonly Recorded[], run: string): Span | null {
  const spans = acceptedWorks(events).flatMap((work) => (work.run === run ? work.spans.toReversed() : []));
  const [first, last] = [spans[0], spans.at(-1)];
  return first === undefined || last === undefined ? null : { from: first.from, to: last.to };
}

function acceptedWorks(events: readonly Recorded[]): readonly Undoable[] {
  const works = new AcceptedWorks();
  // The table has a fold for the type of the event, which the compiler cannot see here.
  for (const event of events) (FOLDS[event.type] as Fold<EventType> | undefined)?.(works, event);
  return works.all;
}
