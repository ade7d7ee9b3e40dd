import { formatDuration } from "../../core/duration.ts";
import { few } from "../../core/few.ts";
import { dollars } from "../../core/limits/budget.ts";
import type { Failure } from "../../core/report/agent-report.ts";
import { isoTime } from "../../core/time.ts";
import type { Attempt, PlanOutcome } from "./make-plan.ts";
import { totalUsage, type PlanReport } from "./plan-report.ts";

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

/** The end of the story for a person. */
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
