import type { Outcome } from "../events.ts";
import { dollars } from "../limits/budget.ts";
import { asSentence, count } from "../projections/explain-words.ts";
import type { TimeSpan } from "../projections/timeline.ts";
import { isoTime, type Instant } from "../time.ts";
import type { Ruling } from "../verdict/verdict.ts";
import type { RunReport } from "./run-report.ts";

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  completed: "All tasks are done",
  exhausted: "The iterations are used up",
  blocked: "Blocked: it needs a person",
  undecided: "A decision is needed",
  stuck: "Stuck",
  limited: "It cannot go on now",
  misconfigured: "It could not work",
  stopped: "Stopped",
};

/** How it ended, in a few words. */
export function title({ run, isDriven }: RunReport): string {
  if (run.outcome !== null) return OUTCOMES[run.outcome];
  return isDriven ? "It is still running" : "Interrupted: its process is gone";
}

/** Why it ended, as a sentence. */
export function whyInWords({ run, isDriven }: RunReport): string {
  if (run.outcome !== null)
    return `It ended as ${run.outcome} (exit code ${run.exitCode ?? 0}): ${asSentence(run.reason ?? "")}`;
  return isDriven
    ? "This is how it stands so far."
    : "It never came to its end; the next run goes on where it stopped.";
}

export function costInWords({ run, unpriced }: RunReport): string {
  if (run.costUsd === null) return "unknown";
  return unpriced === 0
    ? money(run.costUsd)
    : `${money(run.costUsd)} and ${count(unpriced, "iteration")} unknown`;
}

export function money(usd: number | null): string {
  if (usd === null) return "unknown";
  return usd > 0 && usd < 0.005 ? "under $0.01" : dollars(usd);
}

/** "2026-01-20 22:03 UTC" */
export function moment(at: Instant): string {
  return `${isoTime(at).slice(0, 16).replace("T", " ")} UTC`;
}

export function timeOfDay(at: Instant): string {
  return isoTime(at).slice(11, 19);
}

/** Told apart without colours, too. */
export const MARKS: Readonly<Record<Ruling | "open", string>> = {
  accepted: "✓",
  continue: "→",
  rejected: "✗",
  blocked: "■",
  decide: "?",
  failed: "!",
  open: "…",
};

export const RULINGS: Readonly<Record<Ruling | "open", string>> = {
  accepted: "accepted",
  continue: "not done yet",
  rejected: "rejected",
  blocked: "blocked",
  decide: "asked a person",
  failed: "failed",
  open: "no verdict",
};

export const SPANS: Readonly<Record<TimeSpan["is"], string>> = {
  agent: "agent",
  gates: "gates",
  baseline: "gates before the task",
  merge: "merge",
  wait: "waiting",
};

const LONGEST = 2_000;

/** Agents may say very much. */
export function bounded(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST)} … (${text.length - LONGEST} more characters)`;
}
