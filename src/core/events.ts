import type { About, AboutIteration, RunId } from "./event-shape.ts";
import type { AgentReport } from "./report/agent-report.ts";
import type { FleetEvent } from "./fleet-events.ts";
import type { Evidence, Leftovers } from "./report/evidence.ts";
import type { CheckedGate, GateOutcome } from "./report/checked-gate.ts";
import type { BreakerPosition } from "./limits/breaker.ts";
import type { Complexity } from "./limits/complexity.ts";
import type { ExitSignal } from "./limits/exit-rules.ts";
import type { TimeoutOrigin } from "./limits/iteration-timeout.ts";
import type { Plan, TaskId } from "./plan/task.ts";
import type { FieldEdit, ReviewStatus } from "./review/story-review.ts";
import type { Settings } from "./settings.ts";
import type { Instant } from "./time.ts";
import type { Certificate } from "./verdict/certificate.ts";
import type { Reason, Ruling } from "./verdict/verdict.ts";
import type { WorktreeEvent } from "./worktree-events.ts";
import type {
  FeedbackItem,
  InterventionDetails,
  InterventionType,
  Severity,
} from "./interventions/intervention.ts";

/**
 * Every fact that Ralph remembers. The log of these is the truth about runs; state, files, screens and
 * reports are folded from it. Facts are in the past tense and are never changed.
 */
export type Event =
  LogEvent | RunEvent | PlanEvent | IterationEvent | TaskEvent | WorktreeEvent | FleetEvent | OperatorEvent;

export type RunEvent =
  | (About<"run.started"> & {
      readonly run: RunId;
      readonly settings: Settings;
      readonly pid: number;
      readonly version: string;
      /** Where the workspace stood; missing when nobody looked. */
      readonly head?: string | null;
    })
  /** A run whose process died goes on in a new process, with the settings of the new command line. */
  | (About<"run.resumed"> & {
      readonly run: RunId;
      readonly settings: Settings;
      readonly pid: number;
      readonly head?: string | null;
    })
  | (About<"wait.started"> & { readonly run: RunId; readonly until: Instant; readonly why: string })
  /** The calls of this hour are used up, by whoever shares them. */
  | (About<"calls.exhausted"> & { readonly run: RunId; readonly until: Instant })
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
  | (About<"run.ended"> & { readonly run: RunId; readonly outcome: Outcome; readonly reason: string });

/** An earlier log is lost; numbers go on after the transcripts that are there. */
export type LogEvent = About<"log.renewed"> & { readonly lastIteration: number };

export type PlanEvent =
  | (About<"tasks.observed"> & { readonly run: RunId; readonly plan: Plan })
  /** How the gates stood before the first agent of a task touched anything. */
  | (About<"baseline.measured"> & {
      readonly run: RunId;
      readonly task: TaskId;
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
  | (AboutIteration<"verdict.reached"> & {
      readonly verdict: Ruling;
      readonly reasons: readonly Reason[];
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
      /** Stories that are gone and come back; and whether the whole file does. */
      readonly putBack: readonly TaskId[];
      readonly restores: boolean;
    })
  | (AboutIteration<"task.completed"> & { readonly commit: string | null; readonly certificate: Certificate })
  /** The source shows what became of it, in the user's file, committed on top of `parent`. */
  | (About<"task.marked"> & {
      readonly run: RunId;
      readonly task: TaskId;
      readonly commit: string | null;
      readonly parent: string | null;
    })
  | (AboutIteration<"task.blocked"> & { readonly reason: string })
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
    })
  /** A file under `.ralph/` that asks the operator; deleting or answering it is an act. */
  | (About<"letter.published"> & {
      readonly task: TaskId;
      readonly kind: LetterKind;
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
  /** Waiting is over: whoever is limited or failed is asked again now. */
  | (About<"retry.requested"> & { readonly run: RunId })
  /** The hour's calls are counted from here. */
  | About<"calls.reset">
  | (About<"stop.requested"> & { readonly run: RunId; readonly urgency: "after-iteration" | "now" })
  /** What its merge brought was taken back, by a commit on the base. */
  | (About<"task.undone"> & { readonly run: RunId; readonly task: TaskId; readonly to: string })
  /** Its agent is ended, and it is not taken up again in this run. */
  | (About<"task.cancelled"> & { readonly run: RunId; readonly task: TaskId })
  | (About<"task.reset"> & { readonly task: TaskId })
  | (About<"lesson.removed"> & { readonly rule: string })
  /** Events, profiles, metrics and lessons begin anew; the log keeps what was. */
  | About<"interventions.reset">;

export type EventType = Event["type"];
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;

/** An event as the log holds it. Positions grow by commit order and are never reused. */
export type Recorded<E extends Event = Event> = E & { readonly position: number; readonly at: Instant };

export type LetterKind = "decide" | "blocked";

/** How a run ended; `misconfigured` is a run that could not start an agent at all. */
export type Outcome =
  "completed" | "exhausted" | "blocked" | "undecided" | "stuck" | "limited" | "stopped" | "misconfigured";

/** Raised whenever the meaning of a stored event changes; `upcast.ts` reads the older ones. */
export const EVENT_VERSION = 3;

interface BudgetFact {
  readonly run: RunId;
  readonly budget: "run" | "day";
  readonly spentUsd: number;
  readonly budgetUsd: number;
}
