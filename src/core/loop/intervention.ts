import type { TaskId } from "../plan.ts";
import type { InterventionSettings } from "../settings.ts";
import { formatDuration, type Instant } from "../time.ts";

/** What kind of correction was recorded; the names are part of the public contract. */
export const INTERVENTION_TYPES = [
  "no_files_detected",
  "evidence_validation_failed",
  "false_completion_detected",
  "mid_stream_prompt_injected",
  "agent_reinforced",
  "gate_failed",
  "contradiction_detected",
  "dirty_tree",
  "illegal_transition",
  "timeout",
] as const;

export type InterventionType = (typeof INTERVENTION_TYPES)[number];

export type Severity = "info" | "warning" | "critical";

/** One message for the next prompt of the task. */
export interface FeedbackItem {
  readonly iteration: number;
  readonly text: string;
  /** The end of what a gate printed. */
  readonly output?: string;
}

/** One thing to tell the agent next time, and how it is recorded. */
export interface Correction extends Omit<FeedbackItem, "iteration"> {
  readonly intervention: InterventionType;
  readonly severity: Severity;
  /** The guard or gate that spoke, or the part of the loop. */
  readonly rule: string;
}

/** What was known of the iteration that made it necessary. */
export interface InterventionDetails {
  /** Null when the agent did not exit by itself. */
  readonly returnCode: number | null;
  readonly claimedCompletion: boolean;
  readonly filesWritten: number;
  /** Files that the agent named as written. */
  readonly evidenceCount: number;
}

/** What an agent hears that has used half of its time without writing a file. */
export function midStreamCorrection(minutes: number): Correction {
  const text = `You have worked for ${formatDuration(minutes * 60_000)}, half of your time, and have not written a single file. Stop preparing: edit the files in the workspace with your tools now.`;
  return { intervention: "mid_stream_prompt_injected", severity: "warning", rule: "mid-stream", text };
}

/** What one iteration of a task did that thresholds count. */
export interface WatchedIteration {
  readonly iteration: number;
  readonly noFiles: boolean;
  readonly falseCompletion: boolean;
}

/** More than any window that makes sense. */
const WATCHED_MAX = 50;

/** What lies before the first one that counted changes no count: it is not kept. */
export function withIteration(
  watched: readonly WatchedIteration[],
  iteration: number,
): readonly WatchedIteration[] {
  const first = watched.findIndex(({ noFiles, falseCompletion }) => noFiles || falseCompletion);
  const counted = first === -1 ? [] : watched.slice(first);
  return [...counted, { iteration, noFiles: false, falseCompletion: false }].slice(-WATCHED_MAX);
}

export function withIntervention(
  watched: readonly WatchedIteration[],
  iteration: number,
  type: InterventionType,
): readonly WatchedIteration[] {
  const more = {
    ...(type === "no_files_detected" && { noFiles: true }),
    ...(type === "false_completion_detected" && { falseCompletion: true }),
  };
  return watched.map((entry) => (entry.iteration === iteration ? { ...entry, ...more } : entry));
}

/**
 * What the last iteration of a task leads to when it reaches a threshold (reinforce) or passes it (suspend); null when
 * it does neither. `what` is the end of "… in the last 5 iterations of this task".
 */
export function escalationOf(watched: readonly WatchedIteration[], settings: InterventionSettings) {
  const recent = watched.slice(-settings.window);
  const last = recent.at(-1);
  if (!settings.enabled || last === undefined) return null;
  const counted = [
    ["falseCompletion", settings.thresholdFalseCompletion, "a false claim of completion"],
    ["noFiles", settings.thresholdNoFiles, "an iteration without a single changed file"],
  ] as const;
  const counts = counted
    .filter(([kind, threshold]) => last[kind] && threshold > 0)
    .map(([kind, threshold, what]) => ({ threshold, what, times: recent.filter((one) => one[kind]).length }));
  const passed = counts.find(({ times, threshold }) => times > threshold);
  if (passed !== undefined) return { to: "suspend", what: passed.what, times: passed.times } as const;
  const reached = counts.find(({ times, threshold }) => settings.aggressive || times === threshold);
  if (reached === undefined) return null;
  return { to: "reinforce", what: reached.what, times: reached.times } as const;
}

/** What `ralph metrics` is made of: sums over the whole history. */
export const EMPTY_TALLY = {
  iterations: 0,
  /** Iterations without progress. */
  wasted: 0,
  filesWritten: 0,
  interventions: 0,
  byType: {} as Readonly<Partial<Record<InterventionType, number>>>,
  bySeverity: { info: 0, warning: 0, critical: 0 } as Readonly<Record<Severity, number>>,
  /** Corrections that an agent was told and that a further iteration followed. */
  corrected: 0,
  /** … after which it wrote files or was accepted. */
  remedied: 0,
  tasksStarted: 0,
  tasksCompleted: 0,
  costUsd: null as number | null,
};

/** The running statistics of one agent's behaviour. */
export const NEW_PROFILE = {
  iterations: 0,
  noFiles: 0,
  falseCompletions: 0,
  filesWritten: 0,
  citations: 0,
  lastReinforcement: null as Instant | null,
  /** Since its last accepted iteration. */
  isOverThreshold: false,
};

export type AgentProfile = Readonly<typeof NEW_PROFILE>;

/** A finding, and the tasks in which it came up; enough tasks make it a standing line of the prompts. */
export interface RecurringFinding {
  /** The guard's name, or `gate:<name>`. */
  readonly rule: string;
  /** The first tasks, at most as many as a lesson takes. */
  readonly tasks: readonly TaskId[];
}

export interface Lesson extends RecurringFinding {
  readonly sentence: string;
}

const TASKS_FOR_LESSON = 3;
const LESSONS_MAX = 8;
const FINDINGS_MAX = 100;

export function withFinding(
  findings: readonly RecurringFinding[],
  rule: string,
  task: TaskId,
): readonly RecurringFinding[] {
  if (!(rule in ADVICE) && !rule.startsWith(GATE)) return findings;
  const known = findings.find((finding) => finding.rule === rule);
  if (known === undefined) return [...findings, { rule, tasks: [task] }].slice(-FINDINGS_MAX);
  if (known.tasks.includes(task) || known.tasks.length >= TASKS_FOR_LESSON) return findings;
  return findings.map((finding) =>
    finding === known ? { ...finding, tasks: [...finding.tasks, task] } : finding,
  );
}

export function lessonsOf(findings: readonly RecurringFinding[]): readonly Lesson[] {
  return findings
    .filter(({ tasks }) => tasks.length >= TASKS_FOR_LESSON)
    .slice(-LESSONS_MAX)
    .map((finding) => ({ ...finding, sentence: sentenceOf(finding.rule) }));
}

const GATE = "gate:";

/** What to do, by the rule that spoke: told after a mistake, and as a lesson when it comes back in several tasks. */
export const ADVICE = {
  "no-changes": "Explaining a change is not making it: edit the files with your tools.",
  "off-branch": "Stay on the branch that is checked out.",
  "dirty-tree":
    "Commit everything (`git add`, `git commit`), and remove what does not belong to the work, before you claim.",
  "uncommitted-work":
    "Leave the work in files that can be committed: not too big, no secrets, no repository of their own.",
  "protected-paths":
    "Leave protected files and Ralph's configuration alone; put new code and tests into other files.",
  "hidden-changes": "Leave git's index flags, excludes, filters and settings alone.",
  "old-checks-fail":
    "Make the code pass the tests and settings as they were before the task; change them only where the task asks for it.",
  "white-space-only": "If the task is about more than white space, do the rest.",
  "files-not-found": "Write the files that the work needs, and name only those that you wrote.",
  "words-against": "Finish what is open before you claim.",
  "checks-off": "Fix what the checker complains about instead of silencing it.",
  "nothing-checks": "Run the work and look at the result.",
  "task-list": "Leave the task list alone: Ralph marks tasks when their work is verified.",
  "own-marks": "Leave the task list alone: Ralph marks tasks when their work is verified.",
} as const;

function sentenceOf(rule: string): string {
  if (!rule.startsWith(GATE)) return (ADVICE as Readonly<Record<string, string>>)[rule] ?? rule;
  return `The gate "${rule.slice(GATE.length)}" was red in several tasks: run it yourself before you claim completion.`;
}
