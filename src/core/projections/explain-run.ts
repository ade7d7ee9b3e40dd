import { formatDuration } from "../duration.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import { taskState, type RunState, type State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import { clock } from "./explain-iteration.ts";
import { iterationInWords, waitOf } from "./explain-waiting.ts";
import { asSentence, count } from "./explain-words.ts";

/** Why the last run ended as it did, or what it is doing. */
export interface RunExplanation {
  readonly run: string | null;
  readonly outcome: string | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly headline: string;
  /** Tasks that are not done. */
  readonly tasks: readonly OpenTask[];
  readonly next: string | null;
}

export interface OpenTask {
  readonly task: string;
  readonly title: string;
  readonly status: string;
  /** "… is blocked: no credentials." */
  readonly text: string;
  readonly next: string | null;
}

/** `isDriven`: whether the process of an open run is still there. */
export function explainRun(state: State, isDriven: boolean): RunExplanation {
  const { run, plan } = state;
  if (run === null)
    return { ...NO_RUN, headline: "No run yet in this repository.", next: "ralph run", tasks: [] };
  const isRunning = run.end === null && isDriven;
  const open = (plan?.tasks ?? []).filter((task) => statusOf(state, task) !== "done");
  return {
    run: run.id,
    outcome: run.end?.outcome ?? null,
    exitCode: run.end === null ? null : EXIT_CODES[run.end.outcome],
    reason: run.end?.reason ?? null,
    headline: headlineOf(state, run, isDriven),
    tasks: open.map((task) => {
      const { what, next } = waitOf(state, task, isRunning);
      return {
        task: task.id,
        title: task.title,
        status: statusOf(state, task),
        text: `${task.id} ${asSentence(what)}`,
        next:
          next === null || taskState(state, task.id).footing === null
            ? next
            : `see why: ralph why ${task.id}; ${next}`,
      };
    }),
    next: nextOf(run, isDriven),
  };
}

const NO_RUN = { run: null, outcome: null, exitCode: null, reason: null };

function headlineOf(state: State, run: RunState, isDriven: boolean): string {
  const effort = count(run.iterations, "iteration");
  if (run.end !== null) {
    const time = formatDuration(run.end.at - run.startedAt);
    return `The last run ended as ${run.end.outcome} (exit code ${EXIT_CODES[run.end.outcome]}): ${asSentence(run.end.reason)} It took ${effort}, ${time}.`;
  }
  const isShared = run.settings.shared === true;
  if (!isDriven && isShared) return `The run stands still after ${effort}: no worker is here.`;
  if (!isDriven) return `The last run was interrupted after ${effort}: its process is gone.`;
  const stopping =
    run.stop === null ? "" : ` It was asked to stop${run.stop === "now" ? "" : " after this iteration"}.`;
  const by = isShared ? "" : ` (pid ${run.pid})`;
  if (run.waitingUntil !== null)
    return `A run is on${by}; it waits until ${clock(run.waitingUntil)}.${stopping}`;
  const doing = state.iterations.map((open) => `${open.task}, ${iterationInWords(open)}`).join("; ");
  return `A run is on${by}: ${doing === "" ? "between two iterations" : doing}.${stopping}`;
}

/** Beside what each task waits for. */
function nextOf(run: RunState, isDriven: boolean): string | null {
  const isShared = run.settings.shared === true;
  const goOn = isShared ? "go on: ralph submit" : "go on: ralph run";
  if (run.end === null && isShared) return isDriven ? "watch: ralph monitor" : "start a worker: ralph worker";
  if (run.end === null) return isDriven ? "watch: ralph logs --follow" : goOn;
  switch (run.end.outcome) {
    case "misconfigured":
      return "see what is missing: ralph doctor";
    case "stopped":
    case "limited":
      return goOn;
    case "stuck":
      return "see what it was doing: ralph logs";
    default:
      return null;
  }
}

/** The same for scripts. */
export function runJson({ exitCode, ...explanation }: RunExplanation): Record<string, unknown> {
  return { schema: "ralph.why.v1", kind: "run", ...explanation, exit_code: exitCode };
}
