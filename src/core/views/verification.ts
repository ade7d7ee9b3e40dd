import type { EventOf, Recorded } from "../events.ts";
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
  switch (today.commit) {
    case "in-history":
      return { check: "history", status: "well", sentence: `${name} is in the history of HEAD` };
    case "elsewhere":
      return {
        check: "history",
        status: "failed",
        sentence: `${name} is not in the history of HEAD: it was rewritten, or another branch is checked out`,
      };
    case "gone":
      return { check: "history", status: "failed", sentence: `${name} is no longer in the repository` };
    case "none":
      return { check: "history", status: "warning", sentence: "no commit was recorded with the acceptance" };
  }
}

function workChecks({ certificate }: Completion, { undone, gone }: WorkToday): readonly Check[] {
  const { paths } = certificate.changed;
  if (paths.length === 0) return [];
  const lost = undone.length + gone.length;
  if (lost === 0) {
    const sentence = `the work is still there (${count(certificate.changed.files, "file")})`;
    return [{ check: "work", status: "well", sentence }];
  }
  const details = [
    ...(undone.length === 0 ? [] : [`back as before the task: ${few(undone, 10)}`]),
    ...(gone.length === 0 ? [] : [`no longer there: ${few(gone, 10)}`]),
  ].join("; ");
  return lost >= paths.length
    ? [{ check: "work", status: "failed", sentence: `nothing is left of the work; ${details}` }]
    : [{ check: "work", status: "warning", sentence: `part of the work is gone; ${details}` }];
}

/** The gates with the check files as they were at the acceptance. The task's own must still hold. */
export function checkOldChecks(
  { certificate }: Completion,
  { checkFiles }: WorkToday,
  settings: readonly GateSettings[],
  results: readonly GateResult[],
): Check {
  const red = redGates(compareWithBaseline(results, settings, certificate.gates));
  const files = few(checkFiles, 5);
  if (red.length === 0) {
    const sentence = `with the checks as they were accepted, the gates pass (changed since: ${files})`;
    return { check: "old-checks", status: "well", sentence };
  }
  const isOwn = checkFiles.some((path) => certificate.changed.paths.includes(path));
  const names = red.map(({ name, failures }) =>
    failures.length === 0 ? `gate "${name}" fails` : `gate "${name}" fails: ${few(failures)}`,
  );
  const sentence = `with the checks as they were accepted, ${names.join("; ")} (changed since: ${files})`;
  return { check: "old-checks", status: isOwn ? "failed" : "warning", sentence };
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
  if (gate.status === "passed")
    return {
      check,
      status: "well",
      sentence: `gate "${gate.name}" passes (${formatDuration(gate.durationMs)})`,
    };
  const names = gate.failures.length === 0 ? "" : `; failing: ${few(gate.failures, 10)}`;
  return {
    check,
    status: isRed ? "failed" : "warning",
    sentence: `gate "${gate.name}" ${howNow(gate)}; ${howThen(gate.baseline)}${names}`,
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

export const UNDOABLE_EVENTS = [
  "tasks.observed",
  "worktree.opened",
  "worktree.removed",
  "iteration.started",
  "evidence.collected",
  "task.completed",
  "task.merged",
  "task.undone",
  "task.reset",
  "work.left",
  "work.refused",
  "work.returning",
  "work.discarded",
] as const;

/** What was accepted in place or merged last, of this task if one is named, and has not been taken back since. */
export function lastUndoable(events: readonly Recorded[], task: TaskId | null = null): Undoable | null {
  const { accepted } = events.reduce(remember, NOTHING);
  return accepted.findLast((one) => task === null || one.task === task) ?? null;
}

interface Memory {
  readonly source: SourceIdentity | null;
  readonly accepted: readonly Undoable[];
  readonly underWay: Readonly<Record<TaskId, UnderWay>>;
}

type UnderWay = Pick<Undoable, "base" | "branch" | "spans">;

const NOTHING: Memory = { source: null, accepted: [], underWay: {} };
const UNTOUCHED: UnderWay = { base: null, branch: null, spans: [] };

function remember(memory: Memory, event: Recorded): Memory {
  switch (event.type) {
    case "tasks.observed":
      return { ...memory, source: event.plan.source };
    case "worktree.opened":
      return withWork(memory, event.task, { base: event.base, branch: event.branch });
    case "iteration.started": {
      const isInPlace = (memory.underWay[event.task]?.branch ?? null) === null;
      return isInPlace ? withWork(memory, event.task, { base: event.branch }) : memory;
    }
    case "evidence.collected":
      return withWork(memory, event.task, { spans: extended(memory.underWay[event.task], event) });
    case "task.completed":
      return (memory.underWay[event.task]?.branch ?? null) === null ? accepted(memory, event) : memory;
    case "task.merged": {
      const { from, to } = event;
      const isEmpty = from === to;
      return isEmpty ? memory : accepted(withWork(memory, event.task, { spans: [{ from, to }] }), event);
    }
    case "task.undone": {
      const at = memory.accepted.findLastIndex(({ task }) => task === event.task);
      return {
        ...forgotten(memory, event.task),
        accepted: memory.accepted.filter((_, index) => index !== at),
      };
    }
    case "work.left":
    case "work.refused":
    case "work.discarded":
      return withWork(memory, event.task, { spans: [] });
    case "work.returning":
      return withWork(memory, event.task, {
        base: event.branch === DETACHED ? null : event.branch,
        spans: event.from === event.to ? [] : [{ from: event.from, to: event.to }],
      });
    case "worktree.removed":
    case "task.reset":
      return forgotten(memory, event.task);
    default:
      return memory;
  }
}

function withWork(memory: Memory, task: TaskId, work: Partial<UnderWay>): Memory {
  const known = memory.underWay[task] ?? UNTOUCHED;
  return { ...memory, underWay: { ...memory.underWay, [task]: { ...known, ...work } } };
}

function extended(
  { spans } = UNTOUCHED,
  { evidence: { headBefore: from, headAfter: to } }: EventOf<"evidence.collected">,
): readonly Span[] {
  if (to === null || from === to) return spans;
  const [latest, ...earlier] = spans;
  const continues = latest !== undefined && latest.to === from;
  return continues ? [{ from: latest.from, to }, ...earlier] : [{ from, to }, ...spans];
}

function accepted(memory: Memory, event: EventOf<"task.completed" | "task.merged">): Memory {
  const { run, task, iteration } = event;
  const work = memory.underWay[task] ?? UNTOUCHED;
  const { source } = memory;
  return {
    ...forgotten(memory, task),
    accepted: [...memory.accepted, { run, task, iteration, source, ...work }],
  };
}

function forgotten(memory: Memory, task: TaskId): Memory {
  const { [task]: _, ...underWay } = memory.underWay;
  return { ...memory, underWay };
}
