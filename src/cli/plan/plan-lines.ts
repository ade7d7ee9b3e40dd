import { few } from "../../core/text.ts";
import { dollars } from "../../core/limits/budget.ts";
import { type Failure, UNKNOWN_USAGE, type Usage, usageWith } from "../../core/report/agent-report.ts";
import { isoTime, formatDuration } from "../../core/time.ts";
import type { Attempt, PlanOutcome } from "../commands/plan.ts";

interface AttemptSurroundings {
  readonly attempts: number;
  readonly prdPath: string;
  /** Before the next one. */
  readonly waitMs: number | null;
}

/** One line when an agent has ended, and what was wrong. */
export function attemptLines(
  { ordinal, report, outcome, prdPutBack }: Attempt,
  { attempts, prdPath, waitMs }: AttemptSurroundings,
): readonly string[] {
  const cost = report.usage.costUsd === null ? "" : ` · ${dollars(report.usage.costUsd)}`;
  const duration = formatDuration(report.durationMs);
  const lines = [`attempt ${ordinal}/${attempts}  ${wordsFor(outcome)} · ${duration}${cost}`];
  if (outcome.is === "wrong") lines.push(...outcome.mistakes.map((mistake) => `  - ${mistake}`));
  if (prdPutBack !== null) {
    const { aside } = prdPutBack;
    const kept = aside === null ? "" : `; the other version is kept: ${aside}`;
    lines.push(`  - ${prdPath} had changed and was put back${kept}`);
  }
  if (waitMs !== null && waitMs > 0) lines.push(`  - tries again in ${formatDuration(waitMs)}`);
  return lines;
}

function wordsFor(outcome: PlanOutcome): string {
  switch (outcome.is) {
    case "planned":
      return "✔ the plan is right";
    case "wrong":
      return `✗ ${outcome.mistakes.length} ${outcome.mistakes.length === 1 ? "mistake" : "mistakes"}`;
    case "meddled":
      return "✗ changed more than the plan";
    case "blocked":
      return "blocked";
    case "undecided":
      return "has questions";
    case "failed":
      return `failed: ${outcome.failure.message}`;
    case "stopped":
      return "stopped";
  }
}

export function reportLines(report: PlanReport): readonly string[] {
  return ["", ...outcomeLines(report), ...draftLines(report), costLine(report), ...nextLines(report)];
}

function outcomeLines({ outcome, planPath, prdPath, backup }: PlanReport): readonly string[] {
  switch (outcome.is) {
    case "planned":
      return planLines(outcome, planPath, backup);
    case "wrong":
      return ["There is no plan: the last one had the mistakes above."];
    case "meddled":
      return meddledLines(outcome.changes);
    case "blocked":
      return [`The agent cannot make a plan: ${outcome.reason}`];
    case "undecided":
      return [
        "Before there is a plan, the agent asks:",
        `  ${outcome.question.replaceAll("\n", "\n  ")}`,
        ...outcome.options.map((option) => `  - ${option}`),
        `Write the answers into ${prdPath}.`,
      ];
    case "failed":
      return failureLines(outcome.failure);
    case "stopped":
      return ["Stopped: there is no plan."];
  }
}

function planLines(
  { tasks, checks, branch }: Extract<PlanOutcome, { is: "planned" }>,
  planPath: string,
  backup: string | null,
): readonly string[] {
  const count = `${tasks.length} ${tasks.length === 1 ? "story" : "stories"}`;
  return [
    `${planPath}: ${count}${branch === null ? "" : `, on the branch ${branch}`}`,
    ...tasks.map(
      ({ id, title, dependsOn }) =>
        `  ${id}  ${title}${dependsOn.length === 0 ? "" : `  (after ${dependsOn.join(", ")})`}`,
    ),
    // They will be run: better to see them before that.
    ...(checks.length === 0 ? [] : [`Checks:  ${checks.join("; ")}`]),
    ...(backup === null ? [] : [`The old plan is kept: ${backup}`]),
  ];
}

function meddledLines({
  paths,
  headWas,
}: Extract<PlanOutcome, { is: "meddled" }>["changes"]): readonly string[] {
  const files = paths.length === 0 ? [] : [`While it ran, more changed than the plan: ${few(paths, 10)}`];
  const moved =
    headWas === null
      ? []
      : [
          `While it ran, HEAD moved; it was ${headWas.head ?? "unborn"}${headWas.branch === null ? "" : ` on ${headWas.branch}`}.`,
        ];
  return [
    ...files,
    ...moved,
    "The plan is refused, and those changes are left for you: look at them (git status, git diff), keep them or put them back.",
  ];
}

function failureLines({ message, resetsAt }: Failure): readonly string[] {
  const until = resetsAt == null ? "" : ` (until ${isoTime(resetsAt)})`;
  return [`It cannot go on now: ${message}${until}`];
}

function draftLines({ outcome, draft, attempts, logs }: PlanReport): readonly string[] {
  const transcript = attempts.at(-1)?.report.transcript.path;
  if (outcome.is === "planned" || transcript === undefined) return [];
  return [...(draft === null ? [] : [`What it wrote: ${draft}`]), `What it said:  ${logs}/${transcript}`];
}

function costLine({ attempts }: PlanReport): string {
  const { costUsd, inputTokens, outputTokens } = totalUsage(attempts);
  const tokens =
    inputTokens === null || outputTokens === null ? "" : ` · ${inputTokens + outputTokens} tokens`;
  return `Cost:    ${costUsd === null ? "unknown" : dollars(costUsd)}${tokens}`;
}

function nextLines({ outcome, planPath, prdPath, run, again }: PlanReport): readonly string[] {
  switch (outcome.is) {
    case "planned":
      return [
        "",
        "Next:",
        `  1. look the stories over: ${planPath}`,
        `  2. ${run} --dry-run     # what would be done, and the first prompt`,
        `  3. ${run}`,
      ];
    case "undecided":
    case "wrong":
    case "blocked":
      return ["", `Next: make ${prdPath} say more, or what was meant, then: ${again}`];
    case "meddled":
    case "failed":
    case "stopped":
      return ["", `Next: ${again}`];
  }
}

export interface PlanReport {
  readonly prdPath: string;
  readonly planPath: string;
  /** As transcripts are found, relative to the root. */
  readonly logs: string;
  readonly agent: string;
  readonly attempts: readonly Attempt[];
  /** Of the last of them. */
  readonly outcome: PlanOutcome;
  /** The old plan. */
  readonly backup: string | null;
  /** What the agent wrote, if it did not become the plan. */
  readonly draft: string | null;
  /** How to start a run on the new plan. */
  readonly run: string;
  /** How to plan once more. */
  readonly again: string;
}

const EXIT_CODES: Readonly<Record<Exclude<PlanOutcome["is"], "failed">, number>> = {
  planned: 0,
  wrong: 1,
  meddled: 1,
  blocked: 2,
  undecided: 3,
  stopped: 130,
};

export function exitCodeOf(outcome: PlanOutcome): number {
  if (outcome.is !== "failed") return EXIT_CODES[outcome.is];
  return outcome.failure.class === "config" ? 64 : 5;
}

/** As far as agents tell it. */
function totalUsage(attempts: readonly Attempt[]): Usage {
  return attempts.map(({ report }) => report.usage).reduce(usageWith, UNKNOWN_USAGE);
}

export function reportJson(report: PlanReport): Readonly<Record<string, unknown>> {
  const { outcome, attempts, agent, logs } = report;
  return {
    outcome: outcome.is,
    exit_code: exitCodeOf(outcome),
    prd: report.prdPath,
    path: outcome.is === "planned" ? report.planPath : null,
    backup: report.backup,
    draft: report.draft,
    tasks:
      outcome.is === "planned"
        ? outcome.tasks.map(({ id, title, dependsOn, criteria, priority }) => ({
            id,
            title,
            depends_on: dependsOn,
            acceptance_criteria: criteria,
            priority,
          }))
        : [],
    checks: outcome.is === "planned" ? outcome.checks : [],
    mistakes: outcome.is === "wrong" ? outcome.mistakes : [],
    changed: outcome.is === "meddled" ? outcome.changes.paths : [],
    question: outcome.is === "undecided" ? outcome.question : null,
    options: outcome.is === "undecided" ? outcome.options : [],
    blocked_reason: outcome.is === "blocked" ? outcome.reason : null,
    failure: outcome.is === "failed" ? failureJson(outcome.failure) : null,
    attempts: attempts.map((attempt) => ({ ...attemptJson(attempt, logs), agent })),
    cost_usd: totalUsage(attempts).costUsd,
  };
}

function attemptJson(
  { ordinal, report, outcome, prdPutBack }: Attempt,
  logs: string,
): Readonly<Record<string, unknown>> {
  return {
    attempt: ordinal,
    outcome: outcome.is,
    mistakes: outcome.is === "wrong" ? outcome.mistakes : [],
    prd_put_back: prdPutBack !== null,
    duration_seconds: report.durationMs / 1_000,
    input_tokens: report.usage.inputTokens,
    output_tokens: report.usage.outputTokens,
    cost_usd: report.usage.costUsd,
    transcript: `${logs}/${report.transcript.path}`,
  };
}

function failureJson({ class: kind, message, resetsAt }: Failure): Readonly<Record<string, unknown>> {
  return { class: kind, message, resets_at: resetsAt == null ? null : isoTime(resetsAt) };
}
