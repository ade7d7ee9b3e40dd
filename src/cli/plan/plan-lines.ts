import { dollars } from "../../core/loop/brakes.ts";
import { UNKNOWN_USAGE, type Usage, usageWith } from "../../core/streams/agent-report.ts";
import { few } from "../../core/text.ts";
import { isoTime, formatDuration } from "../../core/time.ts";
import { count } from "../../core/views/explain-words.ts";
import type { Attempt, PlanOutcome } from "../commands/plan.ts";
import type { PlanFiles } from "./plan-files.ts";

export interface PlanReport {
  readonly files: PlanFiles;
  readonly attempts: readonly Attempt[];
  /** Of the last of them. */
  readonly outcome: PlanOutcome;
  /** What the agent wrote, if it did not become the plan. */
  readonly draft: string | null;
  /** As transcripts are found, relative to the root. */
  readonly logs: string;
  readonly agent: string;
  /** How to start a run on the new plan. */
  readonly run: string;
  /** How to plan once more. */
  readonly again: string;
}

const IN_SHORT: Readonly<Record<PlanOutcome["is"], string>> = {
  planned: "✔ the plan is right",
  wrong: "✗",
  meddled: "✗ changed more than the plan",
  blocked: "blocked",
  undecided: "has questions",
  failed: "failed:",
  stopped: "stopped",
};

/** One line when an agent has ended, and what was wrong. */
export function attemptLines(attempt: Attempt, attempts: number): readonly string[] {
  const { ordinal, report, outcome, prdPutBack } = attempt;
  const mistakes = outcome.is === "wrong" ? outcome.mistakes : [];
  const words = [
    IN_SHORT[outcome.is],
    ...(outcome.is === "wrong" ? [count(mistakes.length, "mistake")] : []),
    ...(outcome.is === "failed" ? [outcome.failure.message] : []),
  ];
  const cost = report.usage.costUsd === null ? "" : ` · ${dollars(report.usage.costUsd)}`;
  return [
    `attempt ${ordinal}/${attempts}  ${words.join(" ")} · ${formatDuration(report.durationMs)}${cost}`,
    ...[...mistakes, prdPutBack ?? []].flat().map((line) => `  - ${line}`),
  ];
}

export function reportLines(report: PlanReport): readonly string[] {
  const { outcome, draft, attempts, logs } = report;
  const transcript = attempts.at(-1)?.report.transcript.path;
  const isLeft = outcome.is !== "planned" && transcript !== undefined;
  return [
    "",
    ...outcomeLines(report),
    ...(isLeft && draft !== null ? [`What it wrote: ${draft}`] : []),
    ...(isLeft ? [`What it said:  ${logs}/${transcript}`] : []),
    costLine(totalUsage(attempts)),
    "",
    ...nextLines(report),
  ];
}

function outcomeLines({ outcome, files }: PlanReport): readonly string[] {
  switch (outcome.is) {
    case "planned":
      return planLines(outcome, files);
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
        `Write the answers into ${files.prdPath}.`,
      ];
    case "failed": {
      const { message, resetsAt } = outcome.failure;
      return [`It cannot go on now: ${message}${resetsAt == null ? "" : ` (until ${isoTime(resetsAt)})`}`];
    }
    case "stopped":
      return ["Stopped: there is no plan."];
  }
}

type Outcome<Is> = Extract<PlanOutcome, { is: Is }>;

function planLines({ tasks, checks, branch }: Outcome<"planned">, files: PlanFiles): readonly string[] {
  const stories = `${tasks.length} ${tasks.length === 1 ? "story" : "stories"}`;
  const after = (ids: readonly string[]): string => (ids.length === 0 ? "" : `  (after ${ids.join(", ")})`);
  return [
    `${files.planPath}: ${stories}${branch === null ? "" : `, on the branch ${branch}`}`,
    ...tasks.map(({ id, title, dependsOn }) => `  ${id}  ${title}${after(dependsOn)}`),
    // They will be run: better to see them before that.
    ...(checks.length === 0 ? [] : [`Checks:  ${checks.join("; ")}`]),
    ...(files.backup === null ? [] : [`The old plan is kept: ${files.backup}`]),
  ];
}

function meddledLines({ paths, headWas }: Outcome<"meddled">["changes"]): readonly string[] {
  const branch = headWas?.branch == null ? "" : ` on ${headWas.branch}`;
  return [
    ...(paths.length === 0 ? [] : [`While it ran, more changed than the plan: ${few(paths, 10)}`]),
    ...(headWas === null ? [] : [`While it ran, HEAD moved; it was ${headWas.head ?? "unborn"}${branch}.`]),
    "The plan is refused, and those changes are left for you: look at them (git status, git diff), keep them or put them back.",
  ];
}

function costLine({ costUsd, inputTokens, outputTokens }: Usage): string {
  const isKnown = inputTokens !== null && outputTokens !== null;
  const tokens = isKnown ? ` · ${inputTokens + outputTokens} tokens` : "";
  return `Cost:    ${costUsd === null ? "unknown" : dollars(costUsd)}${tokens}`;
}

function nextLines({ outcome, files, run, again }: PlanReport): readonly string[] {
  if (outcome.is === "planned")
    return [
      "Next:",
      `  1. look the stories over: ${files.planPath}`,
      `  2. ${run} --dry-run     # what would be done, and the first prompt`,
      `  3. ${run}`,
    ];
  const isUnclear = ["undecided", "wrong", "blocked"].includes(outcome.is);
  return [
    isUnclear ? `Next: make ${files.prdPath} say more, or what was meant, then: ${again}` : `Next: ${again}`,
  ];
}

const EXIT_CODES: Readonly<Record<PlanOutcome["is"], number>> = {
  planned: 0,
  wrong: 1,
  meddled: 1,
  blocked: 2,
  undecided: 3,
  failed: 5,
  stopped: 130,
};

export function exitCodeOf(outcome: PlanOutcome): number {
  return outcome.is === "failed" && outcome.failure.class === "config" ? 64 : EXIT_CODES[outcome.is];
}

/** As far as agents tell it. */
function totalUsage(attempts: readonly Attempt[]): Usage {
  return attempts.map(({ report }) => report.usage).reduce(usageWith, UNKNOWN_USAGE);
}

export function reportJson({ outcome, files, ...report }: PlanReport): Readonly<Record<string, unknown>> {
  const { attempts, agent, logs } = report;
  const planned = outcome.is === "planned" ? outcome : null;
  const asked = outcome.is === "undecided" ? outcome : null;
  const failure = outcome.is === "failed" ? outcome.failure : null;
  return {
    outcome: outcome.is,
    exit_code: exitCodeOf(outcome),
    prd: files.prdPath,
    path: planned && files.planPath,
    backup: files.backup,
    draft: report.draft,
    tasks: (planned?.tasks ?? []).map(({ id, title, dependsOn, criteria, priority }) => ({
      id,
      title,
      depends_on: dependsOn,
      acceptance_criteria: criteria,
      priority,
    })),
    checks: planned?.checks ?? [],
    mistakes: mistakesOf(outcome),
    changed: outcome.is === "meddled" ? outcome.changes.paths : [],
    question: asked?.question ?? null,
    options: asked?.options ?? [],
    blocked_reason: outcome.is === "blocked" ? outcome.reason : null,
    failure: failure && {
      class: failure.class,
      message: failure.message,
      resets_at: failure.resetsAt == null ? null : isoTime(failure.resetsAt),
    },
    attempts: attempts.map((attempt) => ({ ...attemptJson(attempt, logs), agent })),
    cost_usd: totalUsage(attempts).costUsd,
  };
}

function mistakesOf(outcome: PlanOutcome): readonly string[] {
  return outcome.is === "wrong" ? outcome.mistakes : [];
}

function attemptJson({ ordinal, report, outcome, prdPutBack }: Attempt, logs: string): object {
  return {
    attempt: ordinal,
    outcome: outcome.is,
    mistakes: mistakesOf(outcome),
    prd_put_back: prdPutBack !== null,
    duration_seconds: report.durationMs / 1_000,
    input_tokens: report.usage.inputTokens,
    output_tokens: report.usage.outputTokens,
    cost_usd: report.usage.costUsd,
    transcript: `${logs}/${report.transcript.path}`,
  };
}
