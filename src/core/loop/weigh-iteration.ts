import { withReading, type Breaker } from "../limits/breaker.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Instant } from "../time.ts";
import type { Verdict } from "../verdict/verdict.ts";
import type { RunState, State } from "./state.ts";

/**
 * What an iteration counts for: `free` ones never happened as far as brakes go (somebody stopped it, or it
 * died with us); what the agent's service refused (`retried`, `limited`, `locked-out`) is not even an iteration.
 */
export type Weight =
  "free" | "retried" | "limited" | "locked-out" | "misconfigured" | "timed-out" | "stuck" | "progress";

export function weigh(
  report: { ending: { is: string }; failure: { class: string } | null },
  ruling: Verdict["ruling"],
  progress: boolean,
  tookDefault: boolean,
): Weight {
  if (report.ending.is === "interrupted" || report.ending.is === "stopped") return "free";
  if (report.failure?.class === "config") return "misconfigured";
  if (report.failure?.class === "limit") return "limited";
  if (report.failure?.class === "auth") return "locked-out";
  if (report.failure !== null && report.failure.class !== "agent") return "retried";
  if (ruling === "accepted" || progress) return "progress";
  // Whoever asks again after a default was taken for an answer goes round in circles.
  if (ruling === "decide" && tookDefault) return "stuck";
  if (ruling === "blocked" || ruling === "decide") return "free";
  return report.ending.is === "timed-out" || report.ending.is === "idle" ? "timed-out" : "stuck";
}

export function settleRun(run: RunState, weight: Weight, failure: string | null): RunState {
  switch (weight) {
    case "free":
      return run;
    case "retried":
      return { ...run, iterations: run.iterations - 1, transientInARow: run.transientInARow + 1 };
    case "limited":
      return { ...run, iterations: run.iterations - 1 };
    case "locked-out":
      return { ...run, iterations: run.iterations - 1, lockedOut: failure ?? "the agent is not logged in" };
    case "misconfigured":
      return { ...run, misconfigured: failure ?? "the agent could not be started" };
    case "timed-out":
      return { ...run, transientInARow: 0 };
    case "stuck":
      return {
        ...run,
        transientInARow: 0,
        stuckCount: run.stuckCount + 1,
        stuckIterations: run.stuckIterations + 1,
      };
    case "progress":
      return { ...run, transientInARow: 0, stuckCount: 0 };
  }
}

/** The service is down for every task of the agent, not just for the one that found it out. */
export function withPause(run: RunState, agent: string, weight: Weight, retryAt: Instant | null): RunState {
  const { [agent]: _over, ...others } = run.pauses;
  return {
    ...run,
    pauses: weight === "retried" && retryAt !== null ? { ...others, [agent]: retryAt } : others,
  };
}

export function breakerAfter({ breaker, run }: State, report: AgentReport, weight: Weight): Breaker {
  if (run === null) return breaker;
  const { settings } = run;
  const reading = {
    madeProgress: weight === "progress",
    counts: weight === "stuck",
    errorSignature: report.signals?.errorSignature ?? null,
    outputBytes: report.transcript.bytes,
  };
  return withReading(breaker, reading, settings.breaker, settings.keepGoing);
}
