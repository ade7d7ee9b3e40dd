import type { FeedbackItem, InterventionDetails, InterventionType, Severity } from "./loop/intervention.ts";
import type { BreakerPosition, ExitSignal } from "./loop/brakes.ts";
import type { Complexity, TimeoutOrigin } from "./loop/iteration-timeout.ts";
import type { Plan, TaskId } from "./plan.ts";
import type { AgentReport } from "./streams/agent-report.ts";
import type { CheckedGate, GateOutcome } from "./verdict/checked-gate.ts";
import type { Evidence, Leftovers } from "./verdict/evidence.ts";
import type { FieldEdit, ReviewStatus } from "./review/story-review.ts";
import type { Settings, WorktreeSettings } from "./settings.ts";
import type { Instant } from "./time.ts";
import type { Certificate } from "./verdict/certificate.ts";
import type { WeighedConcern } from "./verdict/concerns.ts";
import type { OldChecks } from "./verdict/facts.ts";
import type { Reading } from "./verdict/reader.ts";
import type { Reason, Ruling } from "./verdict/verdict.ts";

/**
 * Every fact that Ralph remembers. The log of these is the truth about runs; state, files, screens and
 * reports are folded from it. Facts are in the past tense and are never changed.
 */
export type Event =
  | LogEvent
  | RunEvent
  | PlanEvent
  | IterationEvent
  | TaskEvent
  | WorkEvent
  | WorktreeEvent
  | FleetEvent
  | OperatorEvent;

export type RunEvent =
  | (AboutRun<"run.started"> & {
      readonly settings: Settings;
      readonly pid: number;
      readonly version: string;
      /** Where the workspace stood; missing when nobody looked. */
      readonly head?: string | null;
    })
  /** A run whose process died goes on in a new process, with the settings of the new command line. */
  | (AboutRun<"run.resumed"> & {
      readonly settings: Settings;
      readonly pid: number;
      readonly head?: string | null;
    })
  /** `until` null: for a person, for as long as it takes. */
  | (AboutRun<"wait.started"> & { readonly until: Instant | null; readonly why: string })
  /** The calls of this hour are used up, by whoever shares them. */
  | (AboutRun<"calls.exhausted"> & { readonly until: Instant })
  /** Four fifths of a budget are spent, or the next iteration would pass it. */
  | (About<"budget.neared"> & BudgetFact)
  | (About<"budget.reached"> & BudgetFact)
  /** `head`: where the workspace stood then. */
  | (About<"breaker.moved"> & {
      readonly run: RunId | null;
      readonly from: BreakerPosition;
      readonly to: BreakerPosition;
      readonly reason: string;
      readonly head: string | null;
    })
  | (AboutRun<"run.ended"> & { readonly outcome: Outcome; readonly reason: string });

/** An earlier log is lost; numbers go on after the transcripts that are there. */
export type LogEvent = About<"log.renewed"> & { readonly lastIteration: number };

export type PlanEvent =
  | (AboutRun<"tasks.observed"> & { readonly plan: Plan })
  /** How the gates stood before the first agent of a task touched anything. */
  | (AboutTask<"baseline.measured"> & {
      readonly head: string | null;
      readonly gates: readonly GateOutcome[];
      readonly leftovers: Leftovers;
    });

/** One iteration, in this order; `verdict.reached` closes it. */
export type IterationEvent =
  | (AboutIteration<"iteration.started"> & {
      readonly stage: string;
      /** The task's own count, the 3 of `3/15`. */
      readonly ordinal: number;
      readonly maxIterations: number;
      readonly lane: number;
      readonly agent: string;
      readonly timeoutMs: number;
      readonly timeoutFrom: TimeoutOrigin;
      readonly complexity: Complexity;
      readonly promptSha256: string;
      /** Where the workspace stood before the agent touched it. */
      readonly head: string | null;
      readonly branch: string | null;
      /** Unique to the iteration; every process of it carries this in its environment. */
      readonly marker: string;
    })
  /** Half of its time is over; looked at only with `mid_stream`. */
  | (AboutIteration<"halftime.passed"> & { readonly wroteFiles: boolean })
  /** A message of the operator's reached the agent: in the prompt that it worked from, or while it ran. */
  | (AboutIteration<"steer.used"> & { readonly id: string; readonly how: "prompt" | "message" })
  /** The running agent takes no messages: it waits for the next prompt. */
  | (AboutIteration<"steer.deferred"> & { readonly id: string })
  | (AboutIteration<"iteration.ended"> & { readonly report: AgentReport })
  /** Somebody changed the user's own checkout while it was worked on, and these others: a person, or an agent astray. */
  | (AboutIteration<"checkout.changed"> & {
      readonly beside: readonly TaskId[];
      /** Where HEAD is now, if it was moved. */
      readonly head: string | null;
      readonly paths: readonly string[];
    })
  | (AboutIteration<"evidence.collected"> & { readonly evidence: Evidence })
  | (AboutIteration<"gates.checked"> & {
      readonly gates: readonly CheckedGate[];
      /** What lies uncommitted after them. */
      readonly leftovers: Leftovers;
    })
  /** The gates ran again, with the check files as they were before the task. */
  | (AboutIteration<"old-checks.ran"> & { readonly oldChecks: OldChecks; readonly durationMs: number })
  /** Recorded before its process starts: it counts as a call. */
  | (AboutIteration<"reader.asked"> & { readonly agent: string; readonly marker: string })
  | (AboutIteration<"reader.answered"> & { readonly reading: Reading })
  | (AboutIteration<"verdict.reached"> & {
      readonly verdict: Ruling;
      readonly reasons: readonly Reason[];
      /** Missing in older logs. */
      readonly concerns?: readonly WeighedConcern[];
      readonly madeProgress: boolean;
      /** After a transient failure the task, after a limit the agent, is not tried again before. */
      readonly retryAt: Instant | null;
      /** Of an open-ended task. */
      readonly exitSignal: ExitSignal | null;
    })
  | (AboutIteration<"intervention.chosen"> & {
      readonly agent: string;
      readonly intervention: InterventionType;
      readonly severity: Severity;
      /** The guard or gate that spoke, or the part of the loop. */
      readonly rule: string;
      readonly feedback: FeedbackItem;
      readonly details: InterventionDetails;
      /** Whether the next prompt says it. */
      readonly isFedBack: boolean;
      /** Whether the next prompt begins with what is fed back. */
      readonly leads: boolean;
    })
  /** For this task only; `successor` takes over, or nobody. */
  | (AboutIteration<"agent.suspended"> & {
      readonly agent: string;
      readonly successor: string | null;
      readonly why: string;
    });

export type TaskEvent =
  /** A stage has done its part; the task goes on in the next. */
  | (AboutIteration<"stage.passed"> & { readonly stage: string; readonly next: string })
  /** A later stage wants changes: the task goes back, and its agent is told them. */
  | (AboutIteration<"stage.objected"> & {
      readonly stage: string;
      readonly to: string;
      readonly findings: string;
    })
  /** What the fields of a story are to be after the verdict; the file follows. */
  | (AboutIteration<"story.settled"> & {
      readonly from: ReviewStatus;
      /** The same when the agent's own edits are taken back. */
      readonly to: ReviewStatus;
      readonly edits: readonly FieldEdit[];
    })
  | (AboutIteration<"task.completed"> & { readonly commit: string | null; readonly certificate: Certificate })
  /** The source shows what became of it, in the user's file, committed on top of `parent`. */
  | (AboutTask<"task.marked"> & {
      readonly commit: string | null;
      readonly parent: string | null;
    })
  /** `isStuck`: given up for lack of progress. */
  | (AboutIteration<"task.blocked"> & { readonly reason: string; readonly isStuck?: true })
  /** A single attempt that did not succeed, or an open-ended task that goes round in circles; not in this run. */
  | (AboutIteration<"task.failed"> & {
      readonly reason: string;
      /** These two are missing in older logs. */
      readonly stage?: string;
      readonly lastOutput?: string;
    })
  | (AboutIteration<"task.exhausted"> & {
      readonly iterations: number;
      readonly lastOutput: string;
      /** These two are missing in older logs. */
      readonly stage?: string;
      readonly reason?: string;
    })
  | (AboutIteration<"question.asked"> & {
      readonly question: string;
      readonly options: readonly string[];
      /** Taken when `deadlineAt` passes without an answer. */
      readonly default: string | null;
      readonly deadlineAt: Instant | null;
      /** What "accept" does. Missing: the agent asks, and works on with the answer. */
      readonly acceptance?: Acceptance;
    })
  /** A file under `.ralph/` that asks the operator; deleting or answering it is an act. */
  | (About<"letter.published"> & {
      readonly task: TaskId;
      readonly kind: InboxFileKind;
      readonly file: string;
      readonly sha256: string;
    })
  /** It changed while an agent ran: that is nobody's answer. Null: it was deleted. */
  | (About<"letter.disturbed"> & {
      readonly task: TaskId;
      readonly file: string;
      readonly sha256: string | null;
    })
  | (About<"letter.withdrawn"> & { readonly task: TaskId; readonly file: string });

/** What a person did; any process may record these. */
export type OperatorEvent =
  | (About<"question.answered"> & {
      readonly task: TaskId;
      readonly answer: string;
      /** `deadline`: nobody answered in time, so the default was taken. */
      readonly by: "person" | "deadline";
    })
  | (About<"task.unblocked"> & {
      readonly task: TaskId;
      readonly reason: string;
      /** Of its iterations from now on, exactly; null leaves it to the rules. */
      readonly timeoutMs: number | null;
      /** `ralph`: blocked by timeouts in an earlier run, and tried again with more time. */
      readonly by: "person" | "ralph";
    })
  /** A message for the agent that works on the task, or (null) on whatever comes next. */
  | (About<"steer.given"> & { readonly task: TaskId | null; readonly id: string; readonly text: string })
  /** No run works on it until this is taken back. */
  | (About<"task.skipped"> & { readonly task: TaskId })
  | (About<"task.unskipped"> & { readonly task: TaskId })
  /** No iteration begins before it is unpaused; those under way go on. */
  | AboutRun<"run.paused">
  | AboutRun<"run.unpaused">
  /** Waiting is over: whoever is limited or failed is asked again now. */
  | AboutRun<"retry.requested">
  /** The hour's calls are counted from here. */
  | About<"calls.reset">
  | (AboutRun<"stop.requested"> & { readonly urgency: "after-iteration" | "now" })
  /** What its merge brought was taken back, by a commit on the base. */
  | (AboutTask<"task.undone"> & { readonly to: string })
  /** Its unaccepted work is dropped: it begins anew when it goes on. */
  | (About<"work.discarded"> & { readonly task: TaskId; readonly head: string | null })
  /** Its agent is ended, and it is not taken up again in this run. */
  | AboutTask<"task.cancelled">
  | (About<"task.reset"> & { readonly task: TaskId })
  /** What an agent did to the task list in this iteration was taken over, or is not wanted. */
  | (About<"proposal.settled"> & { readonly number: number; readonly as: "accepted" | "dismissed" })
  | (About<"lesson.removed"> & { readonly rule: string })
  /** Events, profiles, metrics and lessons begin anew; the log keeps what was. */
  | About<"interventions.reset">;

export type EventType = Event["type"];
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;

/** An event as the log holds it. Positions grow by commit order and are never reused. */
export type Recorded<E extends Event = Event> = E & { readonly position: number; readonly at: Instant };

export type InboxFileKind = "decide" | "blocked";

/** How a run ended; `misconfigured` is a run that could not start an agent at all. */
export type Outcome =
  "completed" | "exhausted" | "blocked" | "undecided" | "stuck" | "limited" | "stopped" | "misconfigured";

/** Raised whenever the meaning of a stored event changes; `store/stored-rows.ts` reads older ones. */
export const EVENT_VERSION = 3;

/**
 * A claim that only a person can accept; what follows when one does. `isApproval`: nothing is in doubt, but the operator
 * wants to look at the work before it counts.
 */
export type Acceptance = { readonly isApproval?: true } & AcceptanceOf;

type AcceptanceOf =
  | { readonly is: "completion"; readonly commit: string | null; readonly certificate: Certificate }
  | { readonly is: "next-stage"; readonly stage: string; readonly next: string }
  /** The next claim is not asked about again. */
  | { readonly is: "agreement" };

interface BudgetFact {
  readonly run: RunId;
  readonly budget: "run" | "day";
  readonly spentUsd: number;
  readonly budgetUsd: number;
}

export type RunId = string;

export interface About<Type extends string> {
  readonly type: Type;
  /** Who recorded it, of several workers: with facts that people are told of, so that one of them does. */
  readonly worker?: string;
}

interface AboutRun<Type extends string> extends About<Type> {
  readonly run: RunId;
}

interface AboutTask<Type extends string> extends AboutRun<Type> {
  readonly task: TaskId;
}

export interface AboutIteration<Type extends string> extends AboutTask<Type> {
  readonly iteration: number;
}

/** Unaccepted work that leaves the operator's branch when its task is left, and comes back when the task goes on. */
export type WorkEvent =
  /** It is kept on the branch `aside`. The operator's branch goes back to the base after this is recorded. */
  | (AboutTask<"work.leaving"> & {
      readonly aside: string;
      /** The operator's. */
      readonly branch: string;
      /** Null: the branch had no commit. */
      readonly base: string | null;
      readonly head: string;
      /** What lies in the work tree still, as it must not be committed. */
      readonly left: readonly string[];
    })
  /** It is aside; also when the branch to which it was to return has moved meanwhile. */
  | (AboutTask<"work.left"> & { readonly aside: string })
  /** It cannot leave, and why; null: there is none. */
  | (AboutTask<"work.stayed"> & { readonly why: string | null })
  /** What the branch will be with it. The branch moves after this is recorded. */
  | (AboutTask<"work.returning"> & {
      readonly branch: string;
      readonly from: string | null;
      readonly to: string;
    })
  | AboutTask<"work.returned">
  /** It does not go together with what the branch has by now, so it stays aside. */
  | (AboutTask<"work.refused"> & { readonly aside: string; readonly why: string });

/** Of tasks that are worked on side by side. */
export type WorktreeEvent =
  | (AboutTask<"worktree.opened"> & {
      readonly root: string;
      readonly branch: string;
      /** Where its work goes, and how, whatever a later run is told. */
      readonly base: string;
      readonly merge: WorktreeSettings["merge"];
      /** Files of the user's that were copied in: no work of the task's. */
      readonly copied: readonly string[];
    })
  /** Its set-up failed, so nobody can work in it. */
  | (AboutTask<"worktree.failed"> & { readonly why: string })
  | AboutTask<"worktree.removed">
  /** What the base will be: gates passed on it. The base moves after this is recorded. */
  | (AboutIteration<"merge.prepared"> & {
      readonly from: string;
      readonly to: string;
      /** These two are missing in older logs. */
      readonly gates?: readonly GateOutcome[];
      /** False: git does not know the task source, so the mark is no part of the commit. */
      readonly isMarked?: boolean;
    })
  /** Somebody else has moved the base meanwhile. */
  | (AboutIteration<"merge.overtaken"> & { readonly head: string | null })
  /** It does not go together with what the base has by now. */
  | (AboutIteration<"merge.failed"> & {
      readonly base: string;
      readonly conflicts: readonly string[];
      readonly gates: readonly CheckedGate[];
    })
  /** A person has to clear the way first; the next run tries again. */
  | (AboutIteration<"merge.held"> & { readonly why: string })
  /** People bring it to the base. */
  | (AboutIteration<"task.proposed"> & { readonly url: string } & LeftOut)
  | (AboutIteration<"task.merged"> & { readonly from: string; readonly to: string } & LeftOut);

interface LeftOut {
  /** In words, what was done to the branch after its commit was accepted. */
  readonly leftOut?: string;
}

/** Of a run that workers on several machines share. */
export type FleetEvent =
  /** A worker goes on with the task; `from` is the one that vanished while it held it. */
  | (AboutTask<"task.taken"> & {
      readonly worker: string;
      /** Grows with every hand-over; whoever has a smaller one records nothing about the task. */
      readonly lease: number;
      readonly from: string | null;
    })
  /** It could not go on, through no fault of the agent's. */
  | (AboutTask<"task.dropped"> & { readonly worker: string; readonly why: string });
