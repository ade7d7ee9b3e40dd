import { setTimeout as sleep } from "node:timers/promises";
import type { TreeChanges } from "../../compose.ts";
import { retryAt } from "../../core/limits/backoff.ts";
import type { Task } from "../../core/plan/task.ts";
import { planPrompt } from "../../core/prompt/plan-prompt.ts";
import type { AgentReport, Failure } from "../../core/report/agent-report.ts";
import type { AgentSettings, Settings } from "../../core/settings.ts";
import { MODE_TIMEOUT_MS } from "../../core/settings.ts";
import type { Agents } from "../../engine/ports.ts";
import type { PlanFiles, PutBack } from "./plan-files.ts";

export type PlanOutcome =
  | {
      readonly is: "planned";
      readonly tasks: readonly Task[];
      readonly checks: readonly string[];
      readonly branch: string | null;
    }
  | { readonly is: "wrong"; readonly mistakes: readonly string[] }
  | { readonly is: "meddled"; readonly changes: TreeChanges }
  | { readonly is: "blocked"; readonly reason: string }
  | { readonly is: "undecided"; readonly question: string; readonly options: readonly string[] }
  | { readonly is: "failed"; readonly failure: Failure }
  | { readonly is: "stopped" };

/** One agent process and what came of it. */
export interface Attempt {
  readonly ordinal: number;
  readonly report: AgentReport;
  readonly outcome: PlanOutcome;
  /** The requirements had changed, and were put back. */
  readonly prdPutBack: PutBack | null;
}

export interface Planning {
  readonly agents: Agents;
  readonly agent: AgentSettings;
  readonly settings: Settings;
  readonly files: PlanFiles;
  readonly attempts: number;
  /** Of the last agent that made a plan; transcripts are numbered on. */
  readonly lastNumber: number;
  readonly marker: string;
  readonly changes: () => Promise<TreeChanges>;
  /** With the pause before the next one, if there is a next one. */
  readonly onAttempt: (attempt: Attempt, waitMs: number | null) => void;
  readonly signal: AbortSignal;
}

/** Lets the agent try until its plan is right, told each time what was wrong; answers every attempt. */
export async function makePlan(planning: Planning): Promise<readonly Attempt[]> {
  const { signal, lastNumber, onAttempt } = planning;
  const made: Attempt[] = [];
  let now: Try = { ordinal: 1, number: lastNumber + 1, mistakes: [], retries: 0 };
  for (;;) {
    const attempt = await tryOnce(planning, now);
    const next = signal.aborted ? null : nextTry(now, attempt.outcome, planning);
    made.push(attempt);
    onAttempt(attempt, next?.waitMs ?? null);
    // Whoever stops us while we wait ends the planning; the next agent is then not started.
    if (next !== null) await sleep(next.waitMs, null, { signal }).catch(() => {});
    if (next === null) return made;
    if (signal.aborted) return [...made.slice(0, -1), { ...attempt, outcome: { is: "stopped" } }];
    now = next;
  }
}

interface Try {
  readonly ordinal: number;
  /** Of the transcript. */
  readonly number: number;
  /** Of the attempt before. */
  readonly mistakes: readonly string[];
  /** After failures that waiting can mend; they do not count as attempts. */
  readonly retries: number;
}

function nextTry(
  { ordinal, number, mistakes, retries }: Try,
  outcome: PlanOutcome,
  { attempts, settings }: Planning,
): (Try & { readonly waitMs: number }) | null {
  if (outcome.is === "wrong" && ordinal < attempts)
    return { ordinal: ordinal + 1, number: number + 1, mistakes: outcome.mistakes, retries, waitMs: 0 };
  const isTransient = outcome.is === "failed" && outcome.failure.class === "transient";
  if (!isTransient || retries >= settings.limits.retries) return null;
  const waitMs = retryAt(0, retries + 1, number);
  return { ordinal, number: number + 1, mistakes, retries: retries + 1, waitMs };
}

async function tryOnce(planning: Planning, { ordinal, number, mistakes }: Try): Promise<Attempt> {
  const { agents, agent, settings, files, signal } = planning;
  const prompt = planPrompt({
    prd: files.prd,
    prdPath: files.prdPath,
    planPath: files.planPath,
    isThere: files.hasOldPlan && ordinal === 1,
    gates: settings.gates.map(({ command }) => command),
    mistakes,
  });
  const report = await agents.run(
    {
      agent,
      prompt,
      promise: { completion: "PLANNED", requireXml: true },
      run: "plan",
      task: "plan",
      stage: "plan",
      iteration: number,
      ordinal,
      maxIterations: planning.attempts,
      about: { title: `Make a plan of ${files.prdPath}`, description: files.prd, criteria: [] },
      session: null,
      timeoutMs: settings.timeoutMs ?? MODE_TIMEOUT_MS[settings.mode],
      idleMs: settings.limits.idleMs,
      marker: planning.marker,
      mayGetMessages: false,
      onGone: () => {},
    },
    signal,
  );
  const prdPutBack = files.putBackPrd(report.transcript.path);
  return { ordinal, report, prdPutBack, outcome: await outcomeOf(planning, report) };
}

async function outcomeOf({ files, changes }: Planning, report: AgentReport): Promise<PlanOutcome> {
  const { ending, claim, failure } = report;
  if (ending.is === "stopped") return { is: "stopped" };
  const since = await changes();
  if (since.paths.length > 0 || since.headWas !== null) return { is: "meddled", changes: since };
  if (claim.is === "blocked") return { is: "blocked", reason: claim.reason };
  if (claim.is === "undecided") return { is: "undecided", question: claim.question, options: claim.options };
  if (failure !== null) {
    if (failure.class !== "agent") return { is: "failed", failure };
    return { is: "wrong", mistakes: [`the agent did not come to its end: ${failure.message}`] };
  }
  const checked = files.check();
  return checked.is === "right" ? { ...checked, is: "planned" } : checked;
}
