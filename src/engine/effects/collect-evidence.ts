import { midStreamCorrection } from "../../core/loop/intervention.ts";
import { lookAtStories, lostStories, type StoryFindings } from "../../core/review/check-stories.ts";
import { differences, reviewOf, reviewCapOf, type FieldEdit } from "../../core/review/story-review.ts";
import { tasksThat } from "../../core/plan-checks.ts";
import type { Event } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { type GateSettings, verifyOf } from "../../core/settings.ts";
import { protectionFor } from "../../core/verdict/facts.ts";
import { baseCommit, leftoversOf, type State } from "../../core/state.ts";
import { RalphError } from "../../core/errors.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { wasCutOff, type AgentReport } from "../../core/streams/agent-report.ts";
import { type Evidence, NO_CHANGES } from "../../core/verdict/evidence.ts";
import type { Instant } from "../../core/time.ts";
import {
  commitRequest,
  listsOf,
  openIteration,
  watchRequest,
  workspaceFor,
  type Iteration,
  type Performing,
} from "../look-around.ts";
import type { CollectRequest, Ports, TaskSource, Subject } from "../ports.ts";
import { interventionEvents } from "../../core/loop/consequences.ts";
import { compareWithBaseline } from "../../core/verdict/checked-gate.ts";
import { NOTHING_CHECKED } from "../../core/loop/evolve-iteration.ts";
import { isClaimed, isOpenEnded } from "../../core/loop/judge-iteration.ts";
import { withAnalyzers, type GuardAnswer } from "../../core/verdict/plugin-answers.ts";

/** Looks at what really changed. What the agent did to the plan and to inbox files is undone, or counts for nothing. */
export async function collectEvidence(
  effect: EffectOf<"collect-evidence">,
  performing: Performing,
): Promise<void> {
  const { ports, journal } = performing;
  const iteration = openIteration(performing, effect.iteration);
  const { open, about, state, run, task, known } = iteration;
  if (open.phase.is !== "ended") return;
  const { report } = open.phase;
  const { workBase, worktree } = known;
  const { settings } = run;
  const keepsPlan = worktree === null && settings.source.kind === "prompt";
  const plan = keepsPlan ? { isPlanTicked: await isTicked(ports) } : {};
  const evidence = await collectOnceMore(ports, iteration, {
    ...commitRequest(state, open.task, open.number),
    ...watchOf(iteration, ports),
    commit: settings.git.commit,
    taskBase: workBase?.base ?? null,
    leftBeforeTask: workBase?.leftovers ?? [],
    cited: report.signals?.citations ?? [],
    written: report.filesWritten ?? [],
    earlier: { from: workBase?.first ?? null, paths: workBase?.earlier.paths ?? [] },
    isProtected: protectionFor(settings, open.stage),
    gates: ports.commands.gates,
    oldChecks: verifyOf(settings).oldChecks,
    since: sinceOf(iteration),
    // A claim, or what may count as one, is looked at closely.
    isClaimed: !task.loops || !["none", "unfinished"].includes(report.claim.is) || plan.isPlanTicked === true,
  });
  // After the workspace is back where it belongs.
  const list = await undoListEdits(ports.source, iteration);
  const found = { ...withoutPlan(ports.source, evidence), ...list, ...plan };
  await journal.record(
    { ...about, type: "evidence.collected", evidence: await inspected(ports, iteration, report, found) },
    ...(await disturbedInboxFiles(ports, state)),
  );
}

/** From where on, and without what, an iteration's work counts. */
function watchOf({ open, state }: Iteration, ports: Ports) {
  const { head, branch, leftovers } = open;
  return { ...watchRequest(state, open.task, { head, branch }, listsOf(ports)), leftBefore: leftovers };
}

/** From when on what git ignores may be of work that nobody has accepted: that of other tasks does not leave with them. */
function sinceOf({ state, known, open }: Iteration): Instant {
  const others = Object.values(state.tasks).filter(
    ({ completion, worktree }) => completion === null && worktree === null && known.worktree === null,
  );
  return Math.min(...[known, ...others].map(({ loopSince }) => loopSince ?? open.startedAt));
}

/** An agent may have deleted its worktree, or another's: then it is made again, and what was committed is in it. */
async function collectOnceMore(
  ports: Ports,
  { state, open, known, workspace }: Iteration,
  request: CollectRequest,
): Promise<Evidence> {
  const { worktree } = known;
  try {
    return await workspace.collect(request);
  } catch (error) {
    const isGone = error instanceof RalphError && worktree !== null && ports.parallel !== null;
    if (!isGone || !(await ports.parallel.worktrees.isGone(open.task))) throw error;
    await ports.parallel.worktrees.open(open.task, worktree.base);
    return workspaceFor(ports, state, open.task).collect(request);
  }
}

/** A plan that the agent keeps goes along with work, and is none. */
function withoutPlan({ files }: TaskSource, evidence: Evidence): Evidence {
  const { paths, files: count } = evidence.changedSinceTaskBegan;
  const isPlan = (path: string): boolean => files.some((file) => file.isAgents && file.path === path);
  const hasWork = paths.length === 0 || paths.length < count || !paths.every(isPlan);
  return hasWork ? evidence : { ...evidence, changedSinceTaskBegan: NO_CHANGES };
}

/** The agent ticks the plan beside a prompt itself; one that cannot be read has no ticks. */
async function isTicked({ source }: Ports): Promise<boolean> {
  try {
    return (await source.observe()).tasks.every(({ done }) => done);
  } catch (error) {
    if (error instanceof RalphError) return false;
    throw error;
  }
}

/** Inbox files that changed while the agent ran; only what a person does while none runs is an answer. */
async function disturbedInboxFiles(ports: Ports, state: State): Promise<readonly Event[]> {
  const events = Object.values(state.tasks).map(
    async ({ id, inboxFile, question }): Promise<readonly Event[]> => {
      if (inboxFile === null || (question !== null && question.answer !== null)) return [];
      const sha256 = (await ports.inboxFiles.read(inboxFile.file))?.sha256 ?? null;
      if (sha256 === inboxFile.sha256) return [];
      return [{ type: "letter.disturbed", task: id, file: inboxFile.file, sha256 }];
    },
  );
  return (await Promise.all(events)).flat();
}

type ListEvidence = Pick<Evidence, "marksTakenBack" | "tasksRemoved" | "list" | "stories">;

/** The list is the operator's. Of what the agent did to it only the legal steps of its own story stay, for the verdict. */
async function undoListEdits(
  source: TaskSource,
  { state, run, open, task, known }: Iteration,
): Promise<ListEvidence> {
  const { plan } = state;
  const own = reviewOf(run.settings, task);
  let stories: StoryFindings | undefined;
  const settle = (file: unknown): readonly FieldEdit[] => {
    if (plan === null || own === null) return [];
    stories =
      file === undefined
        ? lostStories(own, `${plan.source.label} was gone, or no JSON any more; it is back`)
        : lookAtStories(file, plan.tasks, own, reviewCapOf(run.settings));
    return differences(own, stories.own);
  };
  const isInPlace = known.worktree === null;
  // An agent in a worktree has a copy of its own, which is not merged.
  if (!isInPlace && own !== null) settle(await source.list?.read());
  const list = (isInPlace && (await source.list?.putBack({ iteration: open.number, settle }))) || [];
  const done = plan?.tasks.filter((one) => statusOf(state, one) === "done").map(({ id }) => id);
  const taken = isInPlace ? await source.takeBackMarks?.(new Set(done)) : undefined;
  return {
    marksTakenBack: [...tasksThat("ticked", list), ...(taken ?? [])],
    tasksRemoved: tasksThat("removed", list),
    ...(list.length > 0 && { list }),
    ...(stories && { stories }),
  };
}

/** Tells an agent that has not written anything by half of its time; if that fails, the next prompt does. */
export async function checkMidRun(effect: EffectOf<"check-mid-run">, performing: Performing): Promise<void> {
  const { ports, journal } = performing;
  const iteration = openIteration(performing, effect.iteration);
  const { open, about, run, workspace } = iteration;
  const wroteFiles = await workspace.hasWritten(watchOf(iteration, ports));
  const passed = { ...about, type: "halftime.passed", wroteFiles } as const;
  if (wroteFiles) return journal.record(passed);
  const correction = midStreamCorrection((ports.clock.now() - open.startedAt) / 60_000);
  const isTold = await ports.agents.send(open.number, correction.text);
  await journal.record(passed, ...interventionEvents(run, open, [correction], { isFedBack: !isTold }));
}

/** Runs the project's own checks: those that the run started with. */
export async function checkGates(effect: EffectOf<"check-gates">, performing: Performing): Promise<void> {
  const { ports, journal, signal } = performing;
  const { open, about, known, workspace } = openIteration(performing, effect.iteration);
  // What was red the last time tells soonest whether the work is done.
  const wasRed = ({ name }: GateSettings): number => (known.failingGates.includes(name) ? 0 : 1);
  const gates = ports.commands.gates.toSorted((a, b) => wasRed(a) - wasRed(b));
  const began = await workspace.beforeGates();
  const results = await ports.gates.check(gates, open.marker, signal, known.worktree?.root);
  if (signal.aborted) return;
  const leftovers = await workspace.leftoversAfterGates(leftoversOf(journal.state, open.task), began);
  const checked = compareWithBaseline(results, gates, known.baseline);
  await journal.record({ ...about, type: "gates.checked", gates: checked, leftovers });
}

/** Runs them once more with the check files as they were before the task, and everything else as it is now. */
export async function runOldChecks(
  effect: EffectOf<"run-old-checks">,
  performing: Performing,
): Promise<void> {
  const { ports, journal, signal } = performing;
  const iteration = openIteration(performing, effect.iteration);
  const { open, about, state, known, workspace } = iteration;
  const files = open.phase.is === "observed" ? (open.phase.evidence.checkFiles ?? []) : [];
  // A plugin's gate is a function of ours: it looks at the work tree itself.
  const gates = ports.commands.gates.filter(({ required, plugin }) => required && plugin === undefined);
  const began = ports.clock.now();
  const results = await workspace.withOldChecks(
    { base: baseCommit(state, open.task), paths: files, gates, since: sinceOf(iteration) },
    ({ root, prefix }) => ports.gates.check(gates, open.marker, signal, root, prefix),
  );
  if (signal.aborted) return;
  const oldChecks = { files, gates: compareWithBaseline(results, gates, known.baseline) };
  const durationMs = ports.clock.now() - began;
  await journal.record({ ...about, type: "old-checks.ran", oldChecks, durationMs });
}

/** What the agent reported, with what analyzers make of its words. */
export async function analyzed(
  performing: Performing,
  iteration: number,
  report: AgentReport,
): Promise<AgentReport> {
  const { journal, ports } = performing;
  const isOpen = journal.state.iterations.some(({ number }) => number === iteration);
  if (ports.advisers === undefined || !isOpen || wasCutOff(report)) return report;
  const subject = subjectOf(openIteration(performing, iteration));
  return withAnalyzers(report, await ports.advisers.analyze(subject, report));
}

/** The evidence, with what guards and exit rules of plugins say about it. */
async function inspected(
  { advisers, plugins: loaded = [] }: Ports,
  iteration: Iteration,
  report: AgentReport,
  evidence: Evidence,
): Promise<Evidence> {
  const { state, run, open, known } = iteration;
  if (wasCutOff(report) || report.failure !== null) return evidence;
  const missing = (run.settings.plugins ?? []).filter((name) => !loaded.includes(name)).map(missingPlugin);
  const answers = await advisers?.inspect(subjectOf(iteration), {
    report,
    evidence,
    isClaimed: isClaimed(state, run, open, { ...NOTHING_CHECKED, report, evidence }),
    exitSignals: isOpenEnded(run) ? known.exitSignals : null,
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

function subjectOf({ open, task, known }: Iteration): Subject {
  const { run, stage, number: iteration, agent } = open;
  return { run, task, stage, iteration, agent, root: known.worktree?.root };
}
