import { formatDuration } from "../duration.ts";
import type { EventOf, Recorded } from "../events.ts";
import { few } from "../few.ts";
import {
  compareWithBaseline,
  isFailing,
  outcomeOf,
  redGates,
  type CheckedGate,
  type GateOutcome,
} from "../report/checked-gate.ts";
import type { GateResult } from "../report/gate-result.ts";
import type { GateSettings } from "../settings.ts";
import { isoTime } from "../time.ts";
import { snakeCase } from "../wire.ts";
import type { Weakening } from "../weakening/find-weakened-tests.ts";
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
  /** Since the accepted commit. */
  readonly weakened: readonly Weakening[];
}

/** One thing that was checked again. */
export interface Check {
  /** `history`, `work`, `tests` or `gate:<name>`. */
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
  return [
    historyCheck(completion, today),
    ...workChecks(completion, today),
    ...testChecks(completion, today),
  ];
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

/** Tests of the task itself must check what they checked; others may have changed for a reason of their own. */
function testChecks({ certificate }: Completion, today: WorkToday): readonly Check[] {
  if (today.commit !== "in-history") return [];
  if (today.weakened.length === 0)
    return [{ check: "tests", status: "well", sentence: "no test was weakened since" }];
  const own = today.weakened.filter(({ path }) => certificate.changed.paths.includes(path));
  const shown = (own.length > 0 ? own : today.weakened).map(({ path, what }) => `${path}: ${what}`);
  const whose = own.length > 0 ? "tests of this task were" : "tests were";
  const sentence = `${whose} weakened since: ${few(shown)}`;
  return [{ check: "tests", status: own.length > 0 ? "failed" : "warning", sentence }];
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

function howNow({ status, unmet, exitCode }: CheckedGate): string {
  switch (status) {
    case "timeout":
      return "does not finish in time now";
    case "missing":
    case "skipped":
      return "cannot run now: what it runs is not installed";
    default:
      return `fails now (${unmet ?? `exit ${exitCode ?? "unknown"}`})`;
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
