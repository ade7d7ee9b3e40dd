import { midStreamCorrection } from "../../core/interventions/intervention.ts";
import { lookAtStories, lostStories, type StoryFindings } from "../../core/review/check-stories.ts";
import { REVIEW_FIELDS, reviewOf, reviewCapOf, type FieldEdit } from "../../core/review/story-review.ts";
import { tasksThat } from "../../core/plan/list-changes.ts";
import type { Event } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { verifyOf } from "../../core/settings.ts";
import { protectionFor } from "../../core/verdict/facts.ts";
import { taskState, type OpenIteration, type State, leftoversOf, workBase } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { type TaskId, plainTask } from "../../core/plan/task.ts";
import type { AgentReport } from "../../core/report/agent-report.ts";
import { type Evidence, NO_CHANGES } from "../../core/report/evidence.ts";
import type { Instant } from "../../core/time.ts";
import type { Journal } from "../journal.ts";
import { openIteration, workspaceFor, watchRequest } from "../workspace-for.ts";
import type { CollectRequest, Ports, TaskSource, Subject } from "../ports.ts";
import { interventionEvents } from "../../core/loop/consequences.ts";
import { compareWithBaseline } from "../../core/report/checked-gate.ts";
import { NOTHING_CHECKED } from "../../core/loop/evolve-iteration.ts";
import { isClaimed, isOpenEnded, wasCutOff } from "../../core/loop/judge-iteration.ts";
import { withAnalyzers, type GuardAnswer } from "../../core/report/plugin-answers.ts";

/** Looks at what really changed. What the agent did to the plan and to letters is undone, or counts for nothing. */
export async function collectEvidence(
  effect: EffectOf<"collect-evidence">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { state } = journal;
  const open = openIteration(state, effect.iteration);
  const { footing } = taskState(state, open.task);
  const settings = state.run?.settings;
  const task = state.plan?.tasks.find(({ id }) => id === open.task);
  const about = { run: open.run, task: open.task, iteration: open.number };
  const isBeside = taskState(state, open.task).worktree !== null;
  const isPlanTicked = isBeside || settings?.source.kind !== "prompt" ? null : await isTicked(ports);
  const evidence = await collectOnceMore(ports, state, open.task, {
    ...about,
    title: task?.title ?? open.task,
    hooks: settings?.git.hooks ?? false,
    commit: settings?.git.commit ?? "ralph",
    ...watchRequest(state, open, ports),
    taskBase: footing?.base ?? null,
    leftBeforeTask: footing?.leftovers ?? [],
    cited: reportOf(open)?.signals?.citations ?? [],
    written: reportOf(open)?.filesWritten ?? [],
    earlier: { from: footing?.first ?? null, paths: footing?.earlier.paths ?? [] },
    isProtected: settings === undefined ? () => false : protectionFor(settings, open.stage),
    gates: ports.commands.gates,
    oldChecks: settings === undefined ? "never" : verifyOf(settings).oldChecks,
    since: sinceOf(state, open),
    isClaimed: hasClaim(state, open) || isPlanTicked === true,
  });
  // After the workspace is back where it belongs.
  const plan = isPlanTicked === null ? {} : { isPlanTicked };
  const work = withoutPlan(ports.source, evidence);
  const found = { ...work, ...(await undoListEdits(ports.source, state, open)), ...plan };
  await journal.record(
    { ...about, type: "evidence.collected", evidence: await inspected(ports, state, open, found) },
    ...(await disturbedLetters(ports, state)),
  );
}

/** From when on what git ignores may be of work that nobody has accepted: that of other tasks does not leave with them. */
function sinceOf(state: State, open: OpenIteration): Instant {
  const own = taskState(state, open.task);
  const others = Object.values(state.tasks).filter(
    ({ completion, worktree }) => completion === null && worktree === null && own.worktree === null,
  );
  return Math.min(...[own, ...others].map(({ loopSince }) => loopSince ?? open.startedAt));
}

/** An agent may have deleted its worktree, or another's: then it is made again, and what was committed is in it. */
async function collectOnceMore(
  ports: Ports,
  state: State,
  task: TaskId,
  request: CollectRequest,
): Promise<Evidence> {
  const { worktree } = taskState(state, task);
  try {
    return await workspaceFor(ports, state, task).collect(request);
  } catch (error) {
    const isGone = error instanceof RalphError && worktree !== null && ports.beside !== null;
    if (!isGone || !(await ports.beside.worktrees.isGone(task))) throw error;
    await ports.beside.worktrees.open(task, worktree.base);
    return workspaceFor(ports, state, task).collect(request);
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

/** Letters that changed while the agent ran; only what a person does while none runs is an answer. */
async function disturbedLetters(ports: Ports, state: State): Promise<readonly Event[]> {
  const events = Object.values(state.tasks).map(
    async ({ id, letter, question }): Promise<readonly Event[]> => {
      const isAnswered = question !== null && question.answer !== null;
      if (letter === null || isAnswered) return [];
      const sha256 = (await ports.letters.read(letter.file))?.sha256 ?? null;
      return sha256 === letter.sha256
        ? []
        : [{ type: "letter.disturbed", task: id, file: letter.file, sha256 }];
    },
  );
  return (await Promise.all(events)).flat();
}

function doneTasks(state: State): ReadonlySet<string> {
  const tasks = state.plan?.tasks ?? [];
  return new Set(tasks.filter((task) => statusOf(state, task) === "done").map((task) => task.id));
}

/** Whether somebody has to look closely: a claim, or what may count as one. */
function hasClaim({ plan }: State, open: OpenIteration): boolean {
  const isSingle = plan?.tasks.find(({ id }) => id === open.task)?.loops === false;
  return isSingle || !["none", "unfinished"].includes(reportOf(open)?.claim.is ?? "none");
}

function reportOf({ phase }: OpenIteration): AgentReport | null {
  return phase.is === "ended" ? phase.report : null;
}

type ListEvidence = Pick<Evidence, "marksTakenBack" | "tasksRemoved" | "list" | "stories">;

/** The list is the operator's. Of what the agent did to it only the legal steps of its own story stay, for the verdict. */
async function undoListEdits(source: TaskSource, state: State, open: OpenIteration): Promise<ListEvidence> {
  const { run, plan } = state;
  const { worktree } = taskState(state, open.task);
  const own =
    run &&
    reviewOf(
      run.settings,
      plan?.tasks.find(({ id }) => id === open.task),
    );
  let stories: StoryFindings | undefined;
  const settle = (file: unknown): readonly FieldEdit[] => {
    if (run === null || plan === null || own === null) return [];
    const lost = `${plan.source.label} was gone, or no JSON any more; it is back`;
    stories =
      file === undefined
        ? lostStories(own, lost)
        : lookAtStories(file, plan.tasks, own, reviewCapOf(run.settings));
    const now = stories.own;
    return REVIEW_FIELDS.filter((field) => now[field] !== own[field]).map((field) => ({
      story: own.id,
      field,
      value: now[field],
    }));
  };
  // An agent in a worktree has a copy of its own, which is not merged.
  if (worktree !== null && own !== null) settle(await source.list?.read());
  const isInPlace = worktree === null;
  const list = (isInPlace && (await source.list?.putBack({ iteration: open.number, settle }))) || [];
  const taken = isInPlace ? await source.takeBackMarks?.(doneTasks(state)) : undefined;
  return {
    marksTakenBack: [...tasksThat("ticked", list), ...(taken ?? [])],
    tasksRemoved: tasksThat("removed", list),
    ...(list.length > 0 && { list }),
    ...(stories && { stories }),
  };
}

/** Tells an agent that has not written anything by half of its time; if that fails, the next prompt does. */
export async function lookAtHalftime(
  effect: EffectOf<"look-at-halftime">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { state } = journal;
  const open = openIteration(state, effect.iteration);
  if (state.run === null) return;
  const about = { run: open.run, task: open.task, iteration: open.number };
  const wroteFiles = await workspaceFor(ports, state, open.task).hasWritten(watchRequest(state, open, ports));
  const passed = { ...about, type: "halftime.passed", wroteFiles } as const;
  if (wroteFiles) return journal.record(passed);
  const minutes = (ports.clock.now() - open.startedAt) / 60_000;
  const correction = midStreamCorrection(minutes);
  const isTold = await ports.agents.send(open.number, correction.text);
  const chosen = interventionEvents(state.run, open, [correction], { isFedBack: !isTold });
  await journal.record(passed, ...chosen);
}

/** Runs the project's own checks: those that the run started with. */
export async function checkGates(
  effect: EffectOf<"check-gates">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const workspace = workspaceFor(ports, journal.state, open.task);
  const { baseline, worktree } = taskState(journal.state, open.task);
  const began = await workspace.beforeGates();
  const results = await ports.gates.check(ports.commands.gates, open.marker, signal, worktree?.root);
  if (signal.aborted) return;
  const leftovers = await workspace.leftoversAfterGates(leftoversOf(journal.state, open.task), began);
  await journal.record({
    type: "gates.checked",
    run: open.run,
    task: open.task,
    iteration: open.number,
    gates: compareWithBaseline(results, ports.commands.gates, baseline),
    leftovers,
  });
}

/** Runs them once more with the check files as they were before the task, and everything else as it is now. */
export async function runOldChecks(
  effect: EffectOf<"run-old-checks">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { state } = journal;
  const open = openIteration(state, effect.iteration);
  const { baseline } = taskState(state, open.task);
  const files = open.phase.is === "observed" ? (open.phase.evidence.checkFiles ?? []) : [];
  // A plugin's gate is a function of ours: it looks at the work tree itself.
  const gates = ports.commands.gates.filter(({ required, plugin }) => required && plugin === undefined);
  const began = ports.clock.now();
  const request = {
    base: workBase(state, open.task),
    paths: files,
    gates,
    since: sinceOf(state, open),
  };
  const results = await workspaceFor(ports, state, open.task).withOldChecks(request, ({ root, prefix }) =>
    ports.gates.check(gates, open.marker, signal, root, prefix),
  );
  if (signal.aborted) return;
  await journal.record({
    type: "old-checks.ran",
    run: open.run,
    task: open.task,
    iteration: open.number,
    oldChecks: { files, gates: compareWithBaseline(results, gates, baseline) },
    durationMs: ports.clock.now() - began,
  });
}

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
async function inspected(
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
    isClaimed: isClaimed(state, run, open, { ...NOTHING_CHECKED, report, evidence }),
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
