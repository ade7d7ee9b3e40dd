import { formatDuration } from "../duration.ts";
import { dollars } from "../limits/budget.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import { tasksInScope } from "../loop/select-tasks.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { Outcome } from "../events.ts";
import type { Instant } from "../time.ts";

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  completed: "COMPLETE",
  exhausted: "ITERATION LIMIT",
  blocked: "BLOCKED",
  undecided: "DECISION NEEDED",
  stuck: "STUCK",
  limited: "CANNOT GO ON NOW",
  misconfigured: "MISCONFIGURED",
  stopped: "STOPPED",
};

/** The lines printed at the end of a run. */
export function runSummary(state: State, logPath: string, now: Instant): readonly string[] {
  const { run, plan } = state;
  if (run === null || run.end === null) return [];
  const tasks = plan === null ? [] : tasksInScope(run, plan);
  const done = tasks.filter((task) => statusOf(state, task) === "done").length;
  const duration = (run.end?.at ?? now) - run.startedAt;
  const average = run.iterations === 0 ? "–" : formatDuration(duration / run.iterations);
  return [
    "Ralph Loop Summary",
    "──────────────────",
    `Exit:        ${OUTCOME_WORDS[run.end.outcome]} (code ${EXIT_CODES[run.end.outcome]})`,
    `Iterations:  ${run.iterations} / ${run.settings.limits.maxIterations}`,
    `Duration:    ${formatDuration(duration)}`,
    `Stories:     ${done}/${tasks.length} complete`,
    `Avg/iter:    ${average}`,
    `Stuck iters: ${run.stuckIterations}`,
    `Cost:        ${run.spend.usd === null ? "unknown" : dollars(run.spend.usd)}`,
    `Log:         ${logPath}`,
  ];
}
