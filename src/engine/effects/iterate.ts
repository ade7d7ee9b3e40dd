import { agentNamed } from "../../core/agents.ts";
import { createHash, randomUUID } from "node:crypto";
import type { EventOf, Event } from "../../core/events.ts";
import { hourOf, isWarningDue, wouldPass } from "../../core/limits/budget.ts";
import { beginIteration, needsBaseline, shownBase, type Beginning } from "../../core/loop/begin-iteration.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import {
  taskState,
  type OpenIteration,
  type State,
  leftoversOf,
  type TaskState,
} from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { analyzed } from "./collect-evidence.ts";
import type { Journal } from "../journal.ts";
import { lookAround } from "../look-around.ts";
import type { Ports, Snapshot, TaskSource } from "../ports.ts";
import type { AgentReport } from "../../core/report/agent-report.ts";
import { workspaceFor, openIteration } from "../workspace-for.ts";
import { leftFor, nextCost, underWayUsd } from "../../core/loop/brakes.ts";
import type { TaskId } from "../../core/plan/task.ts";
import type { Instant } from "../../core/time.ts";
import type { ShownWork } from "../../core/verdict/reader.ts";
import { outcomeOf } from "../../core/report/checked-gate.ts";

type Started = EventOf<"iteration.started">;

/** One agent process: looked around, admitted, recorded as started, run, recorded as ended. */
export async function iterate(
  effect: EffectOf<"iterate">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  if (!(await hasWorktree(effect.task, ports, journal, signal))) return;
  const workspace = workspaceFor(ports, journal.state, effect.task);
  const snapshot = await workspace.snapshot();
  if (needsBaseline(journal.state, effect.task, snapshot.head))
    return measureBaseline(effect.task, snapshot.head, ports, journal, signal);
  if (await isDayBudgetReached(effect.task, ports, journal)) return;
  const list = listInReach(ports, journal.state, effect.task);
  await list?.keep();
  const admitted = await admit(effect, snapshot, ports, journal, signal);
  if (admitted === null) return;
  const { started, prompt, promise, about, session, model } = admitted;
  const { run, task, stage, iteration, ordinal, maxIterations, timeoutMs, marker } = started;
  const known = agentNamed(started.agent, ports.commands.agents);
  const agent = known && { ...known, model: model ?? known.model };
  if (agent === null) throw new RalphError("config", `the agent "${started.agent}" is not configured`);
  const settings = journal.state.run?.settings;
  const { worktree } = taskState(journal.state, task);
  const strays = worktree === null ? null : await watchCheckout(started, ports, journal);
  const budgetUsd = await budgetFor({ number: iteration, task }, ports, journal);
  const report = await ports.agents.run(
    {
      agent,
      prompt,
      promise,
      run,
      task,
      stage,
      iteration,
      ordinal,
      maxIterations,
      about,
      session: agent.session === "resume" ? session : null,
      timeoutMs,
      idleMs: settings?.limits.idleMs ?? 0,
      budgetUsd,
      marker,
      // The operator may say something at any time.
      mayGetMessages: true,
      onGone: () => workspace.lookAhead(),
      ...(worktree !== null && { root: worktree.root }),
    },
    signal,
  );
  if ((await list?.see(allWritten(report))) === true) workspace.lookAhead();
  const analyzedReport = await analyzed(ports, journal.state, iteration, report);
  await journal.record(
    { type: "iteration.ended", run, task, iteration, report: analyzedReport },
    ...((await strays?.()) ?? []),
  );
}

/** The files that the agent wrote, where all of its tools tell them; null: it may have written any. */
function allWritten({ ranCommands, filesWritten }: AgentReport): readonly string[] | null {
  return ranCommands === false && filesWritten !== undefined ? filesWritten : null;
}

/** Records `iteration.started` before any process exists, so that a crash leaves a trace. */
async function admit(
  effect: EffectOf<"iterate">,
  snapshot: Snapshot,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<(Beginning & { readonly started: Started }) | null> {
  const work = await workToShow(effect.task, snapshot, ports, journal.state);
  const notes = { notes: await ports.notes.read(), notesPath: ports.notes.path };
  const around = { ...snapshot, ...notes, work, worker: ports.worker ?? null };
  const marker = randomUUID();
  let admitted: (Beginning & { readonly started: Started }) | null = null;
  const { since, until } = hourOf(ports.clock.now());
  const below = journal.state.run?.settings.limits.callsPerHour ?? 0;
  const begin = (state: State): readonly Started[] | null => {
    const begun = signal.aborted
      ? null
      : beginIteration(state, effect.task, effect.lane, around, ports.clock.now());
    admitted = begun && {
      ...begun,
      started: { ...begun.started, promptSha256: sha256(begun.prompt), marker },
    };
    return admitted && [admitted.started];
  };
  const answer = await journal.admit(begin, below === 0 ? undefined : { since, below });
  if (answer === "admitted") return admitted;
  if (answer === "calls-exhausted" && journal.state.run !== null)
    await journal.record({ type: "calls.exhausted", run: journal.state.run.id, until });
  return null;
}

async function workToShow(
  id: TaskId,
  { head }: Snapshot,
  ports: Ports,
  state: State,
): Promise<ShownWork | null> {
  const base = shownBase(state, id);
  if (base === null) return null;
  const { text, isCut } = await workspaceFor(ports, state, id).patch(base, head);
  return { diff: text, isDiffCut: isCut, base, head };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Whether a further iteration would pass the budget of the day, which others share. It, and a warning, are recorded. */
async function isDayBudgetReached(id: TaskId, ports: Ports, journal: Journal): Promise<boolean> {
  const { run, plan } = journal.state;
  const budgetUsd = run?.settings.limits.budget.day ?? null;
  const task = plan?.tasks.find((planned) => planned.id === id);
  if (run === null || task === undefined || budgetUsd === null) return false;
  const spentUsd = await ports.log.sumCosts(startOfDay(ports.clock.now()));
  const fact = { run: run.id, budget: "day", spentUsd, budgetUsd } as const;
  const expectedUsd = spentUsd + underWayUsd(journal.state, run);
  const isReached = wouldPass(expectedUsd, nextCost(journal.state, run, task), budgetUsd);
  const isNear = isWarningDue(spentUsd, budgetUsd) && !run.budgetsNeared.includes("day");
  const events: Event[] = [];
  if (isNear) events.push({ type: "budget.neared", ...fact });
  if (isReached) events.push({ type: "budget.reached", ...fact });
  if (events.length > 0) await journal.record(...events);
  return isReached;
}

/** What is left for one iteration. */
async function budgetFor(
  open: Pick<OpenIteration, "number" | "task">,
  ports: Ports,
  { state }: Journal,
): Promise<number | null> {
  const { run } = state;
  if (run === null) return null;
  const isByDay = run.settings.limits.budget.day !== null;
  const spentTodayUsd = isByDay ? await ports.log.sumCosts(startOfDay(ports.clock.now())) : 0;
  return leftFor(state, run, open, spentTodayUsd);
}

/** The operator's day, not Greenwich's. */
function startOfDay(now: Instant): Instant {
  return new Date(now).setHours(0, 0, 0, 0);
}

/** Makes sure that a task has its own checkout. True: it has; otherwise something was recorded, and is decided anew. */
export async function hasWorktree(
  task: TaskId,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<boolean> {
  const { run } = journal.state;
  const known = taskState(journal.state, task).worktree;
  // One that was begun in a worktree goes on there.
  const settings = known ?? run?.settings.worktrees ?? null;
  if (run === null || settings === null || ports.beside === null) return true;
  const { base, merge } = settings;
  const opened = await ports.beside.worktrees.open(task, base, signal);
  // Nobody waits for it any more; whoever comes next takes it up.
  if (signal.aborted) return false;
  if (opened.is === "failed") {
    await journal.record({ type: "worktree.failed", run: run.id, task, why: opened.why });
    return false;
  }
  const { root, branch, copied } = opened;
  if (known?.root === root && known.branch === branch) return true;
  await journal.record({ type: "worktree.opened", run: run.id, task, root, branch, base, merge, copied });
  return false;
}

/** Looks at the user's checkout before an agent works beside it; the answer tells what somebody did there meanwhile. */
async function watchCheckout(
  { run, task, iteration }: Started,
  { beside }: Ports,
  journal: Journal,
): Promise<() => Promise<readonly EventOf<"checkout.changed">[]>> {
  if (beside === null) return () => Promise.resolve([]);
  const changed = await beside.checkout.watch();
  const others = new Set(othersAtWork(journal.state, task));
  return async () => {
    for (const id of othersAtWork(journal.state, task)) others.add(id);
    const change = await changed((head) => isOurs(journal.state, head));
    if (change === null) return [];
    return [{ type: "checkout.changed", run, task, iteration, beside: [...others], ...change }];
  };
}

function othersAtWork({ iterations }: State, task: string): readonly string[] {
  return iterations.map((open) => open.task).filter((id) => id !== task);
}

/** A merge moves what is checked out, and is recorded right after. */
function isOurs({ tasks }: State, head: string | null): boolean {
  return Object.values(tasks).some(
    ({ merge }) => (merge?.is === "prepared" || merge?.is === "merged") && merge.to === head,
  );
}

/** How the gates stand before an agent touches anything, so that an old failure is not the agent's. */
async function measureBaseline(
  task: TaskId,
  head: string | null,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const underWay = measurements(journal);
  // Several lanes begin at the same commit: one of them asks, and all know.
  const others = underWay.get(head);
  if (others !== undefined) return others;
  const mine = measure(task, head, ports, journal, signal).finally(() => underWay.delete(head));
  underWay.set(head, mine);
  return mine;
}

const allUnderWay = new WeakMap<Journal, Map<string | null, Promise<void>>>();

/** By the commit that they are made at. */
function measurements(journal: Journal): Map<string | null, Promise<void>> {
  const known = allUnderWay.get(journal) ?? new Map<string | null, Promise<void>>();
  allUnderWay.set(journal, known);
  return known;
}

async function measure(
  task: TaskId,
  head: string | null,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { run } = journal.state;
  if (run === null) return;
  const workspace = workspaceFor(ports, journal.state, task);
  const known = taskState(journal.state, task);
  const began = await workspace.beforeGates();
  const marker = baselineMarker(run.id, known);
  const results = await ports.gates.check(ports.commands.gates, marker, signal, known.worktree?.root);
  if (signal.aborted) return;
  const leftovers = await workspace.leftoversAfterGates(leftoversOf(journal.state, task), began);
  const gates = results.map(outcomeOf);
  await journal.record({ type: "baseline.measured", run: run.id, task, head, gates, leftovers });
}

/**
 * No iteration is open then; recovery finds by it what is left of a measurement. Whoever ends a gate ends all that carry
 * its marker, so tasks side by side have one each.
 */
export function baselineMarker(run: string, { id, worktree }: TaskState): string {
  return worktree === null ? `baseline-${run}` : `baseline-${run}-${id}`;
}

/** Gives a message of the operator's to the running agent; if it takes none, the next prompt has it. */
export async function tellAgent(
  effect: EffectOf<"tell-agent">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const message = journal.state.steers.find(({ id }) => id === effect.steer);
  if (message === undefined) return;
  const isTold = await ports.agents.send(open.number, `Message from the operator: ${message.text}`);
  const about = { run: open.run, task: open.task, iteration: open.number, id: message.id };
  await journal.admit((state) => {
    // An iteration that is over by now takes nothing along: the message still waits.
    if (!state.iterations.some(({ number }) => number === open.number)) return null;
    return [isTold ? { ...about, type: "steer.used", how: "message" } : { ...about, type: "steer.deferred" }];
  });
}

/** In a worktree the agent has a copy of its own, which is not merged. */
function listInReach({ source }: Ports, state: State, task: TaskId): TaskSource["list"] {
  return taskState(state, task).worktree === null ? source.list : undefined;
}

/** Records an iteration as interrupted: nobody saw how its agent ended. */
export async function closeOrphan(
  effect: EffectOf<"close-orphan">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const report = await ports.agents.recoverReport(open.number, open.startedAt);
  await listInReach(ports, journal.state, open.task)?.see(allWritten(report));
  await journal.record({
    type: "iteration.ended",
    run: open.run,
    task: open.task,
    iteration: open.number,
    report,
  });
}
