import { isClaimed, isOpenEnded, wasCutOff } from "../core/loop/judge-iteration.ts";
import { taskState, type OpenIteration, type State } from "../core/loop/state.ts";
import { plainTask } from "../core/plan/task.ts";
import type { AgentReport } from "../core/report/agent-report.ts";
import { withAnalyzers } from "../core/report/analyzer-answer.ts";
import type { Evidence } from "../core/report/evidence.ts";
import type { GuardAnswer } from "../core/report/plugin-answers.ts";
import type { Subject } from "./plugin-ports.ts";
import type { Ports } from "./ports.ts";

/** What the agent reported, with what analyzers make of its words. */
export async function analyzed(
  { advisers }: Ports,
  state: State,
  iteration: number,
  report: AgentReport,
): Promise<AgentReport> {
  const open = state.iterations.find(({ number }) => number === iteration);
  if (advisers === undefined || open === undefined || wasCutOff(report)) return report;
  return withAnalyzers(report, await advisers.analyze(subjectOf(state, open), report));
}

/** The evidence, with what guards and exit rules of plugins say about it. */
export async function inspected(
  { advisers, plugins: loaded = [] }: Ports,
  state: State,
  open: OpenIteration,
  evidence: Evidence,
): Promise<Evidence> {
  const { run } = state;
  const { phase } = open;
  if (run === null || phase.is !== "ended") return evidence;
  const { report } = phase;
  if (wasCutOff(report) || report.failure !== null) return evidence;
  const missing = (run.settings.plugins ?? []).filter((name) => !loaded.includes(name)).map(missingPlugin);
  const answers = await advisers?.inspect(subjectOf(state, open), {
    report,
    evidence,
    isClaimed: isClaimed(state, run, open, { is: "observed", report, evidence }),
    exitSignals: isOpenEnded(run) ? taskState(state, open.task).exitSignals : null,
  });
  if (missing.length === 0 && answers === undefined) return evidence;
  const { guards = [], exits = [] } = answers ?? {};
  return { ...evidence, plugins: { guards: [...missing, ...guards], exits } };
}

/** Nobody knows what it would have said: a worker whose configuration lacks it accepts nothing. */
function missingPlugin(name: string): GuardAnswer {
  const failure = `the plugin "${name}" of this run is not configured on the machine that did the work`;
  return { guard: name, on: "claim", warns: false, advice: null, objections: [], failure };
}

function subjectOf(state: State, open: OpenIteration): Subject {
  const { run, task: id, stage, number: iteration, agent } = open;
  const task = state.plan?.tasks.find((planned) => planned.id === id) ?? plainTask({ id, title: id });
  return { run, task, stage, iteration, agent, root: taskState(state, id).worktree?.root };
}
