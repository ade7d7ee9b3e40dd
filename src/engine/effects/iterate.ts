import { agentNamed } from "../../core/agents.ts";
import { createHash, randomUUID } from "node:crypto";
import type { EventOf, Event } from "../../core/events.ts";
import { hourOf, isWarningDue, wouldPass } from "../../core/loop/brakes.ts";
import { beginIteration, needsBaseline, shownBase, type Beginning } from "../../core/loop/begin-iteration.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { taskState, leftoversOf, type RunState, type State, type TaskState } from "../../core/state.ts";
import { RalphError } from "../../core/errors.ts";
import { analyzed } from "./collect-evidence.ts";
import type { Journal } from "../journal.ts";
import {
  lookAround,
  openIteration,
  plannedTask,
  theRun,
  workspaceFor,
  type Performing,
} from "../look-around.ts";
import type { Expectation, Ports, Snapshot, TaskSource } from "../ports.ts";
import type { AgentReport } from "../../core/streams/agent-report.ts";
import { leftFor, nextCost, underWayUsd } from "../../core/loop/outcome.ts";
import type { TaskId } from "../../core/plan.ts";
import type { Instant } from "../../core/time.ts";
import type { ShownWork } from "../../core/verdict/reader.ts";
import { outcomeOf } from "../../core/verdict/checked-gate.ts";

type Started = EventOf<"iteration.started">;
type Admitted = Beginning & { readonly started: Started };

/** One agent process: looked around, admitted, recorded as started, run, recorded as ended. */
export async function iterate(effect: EffectOf<"iterate">, performing: Performing): Promise<void> {
  const { ports, journal, signal } = performing;
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  if (!(await hasWorktree(effect.task, performing))) return;
  const workspace = workspaceFor(ports, journal.state, effect.task);
  const snapshot = await workspace.snapshot();
  if (needsBaseline(journal.state, effect.task, snapshot.head))
    return measureBaseline(effect.task, snapshot.head, performing);
  if (await isDayBudgetReached(effect.task, performing)) return;
  const list = listInReach(ports, journal.state, effect.task);
  await list?.keep();
  const admitted = await admit(effect, snapshot, performing);
  if (admitted === null) return;
  const { started, prompt, promise, about, session, model } = admitted;
  const { run, task, stage, iteration, ordinal, maxIterations, timeoutMs, marker } = started;
  const known = agentNamed(started.agent, ports.commands.agents);
  if (known === null) throw new RalphError("config", `the agent "${started.agent}" is not configured`);
  const { worktree } = taskState(journal.state, task);
  const strays = worktree === null ? null : await watchCheckout(started, performing);
  const { settings } = theRun(journal.state);
  const spentToday = settings.limits.budget.day === null ? 0 : await spentTodayUsd(ports);
  const report = await ports.agents.run(
    {
      agent: { ...known, model: model ?? known.model },
      prompt,
      promise,
      run,
      task,
      stage,
      iteration,
      ordinal,
      maxIterations,
      about,
      session: known.session === "resume" ? session : null,
      timeoutMs,
      idleMs: settings.limits.idleMs,
      budgetUsd: leftFor(journal.state, theRun(journal.state), { number: iteration, task }, spentToday),
      marker,
      // The operator may say something at any time.
      mayGetMessages: true,
      onGone: () => workspace.lookAhead(),
      ...(worktree !== null && { root: worktree.root }),
    },
    signal,
  );
  if ((await list?.see(allWritten(report))) === true) workspace.lookAhead();
  const ended = await analyzed(performing, iteration, report);
  await journal.record(
    { type: "iteration.ended", run, task, iteration, report: ended },
    ...((await strays?.()) ?? []),
  );
}

/** The files that the agent wrote, where all of its tools tell them; null: it may have written any. */
function allWritten({ ranCommands, filesWritten }: AgentReport): readonly string[] | null {
  return ranCommands === false && filesWritten !== undefined ? filesWritten : null;
}

/** Records `iteration.started` before any process exists, so that a crash leaves a trace. */
async function admit(
  { task, lane }: EffectOf<"iterate">,
  snapshot: Snapshot,
  { ports, journal, signal }: Performing,
): Promise<Admitted | null> {
  const work = await workToShow(task, snapshot, ports, journal.state);
  const notes = { notes: await ports.notes.read(), notesPath: ports.notes.path };
  const around = { ...snapshot, ...notes, work, worker: ports.worker ?? null };
  const marker = randomUUID();
  let admitted: Admitted | null = null;
  const begin = (state: State): readonly Started[] | null => {
    const begun = signal.aborted ? null : beginIteration(state, task, lane, around, ports.clock.now());
    if (begun === null) return null;
    const promptSha256 = createHash("sha256").update(begun.prompt).digest("hex");
    admitted = { ...begun, started: { ...begun.started, promptSha256, marker } };
    return [admitted.started];
  };
  const { calls, until } = callsLeft(journal.state, ports.clock.now());
  const answer = await journal.admit(begin, calls);
  if (answer === "admitted") return admitted;
  if (answer === "calls-exhausted")
    await journal.record({ type: "calls.exhausted", run: theRun(journal.state).id, until });
  return null;
}

/** What is expected of the calls of this hour by whoever makes one more, and when the next hour begins. */
export function callsLeft(
  state: State,
  now: Instant,
): { readonly calls: Expectation["calls"]; readonly until: Instant } {
  const { since, until } = hourOf(now);
  const below = theRun(state).settings.limits.callsPerHour;
  return { calls: below === 0 ? undefined : { since, below }, until };
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

/** Whether a further iteration would pass the budget of the day, which others share. It, and a warning, are recorded. */
async function isDayBudgetReached(id: TaskId, { ports, journal }: Performing): Promise<boolean> {
  const { state } = journal;
  const run = theRun(state);
  const budgetUsd = run.settings.limits.budget.day;
  if (budgetUsd === null) return false;
  const spentUsd = await spentTodayUsd(ports);
  const fact = { run: run.id, budget: "day", spentUsd, budgetUsd } as const;
  const nextUsd = nextCost(state, run, plannedTask(state, id));
  const isReached = wouldPass(spentUsd + underWayUsd(state, run), nextUsd, budgetUsd);
  const isNear = isWarningDue(spentUsd, budgetUsd) && !run.budgetsNeared.includes("day");
  const events: Event[] = [];
  if (isNear) events.push({ type: "budget.neared", ...fact });
  if (isReached) events.push({ type: "budget.reached", ...fact });
  if (events.length > 0) await journal.record(...events);
  return isReached;
}

/** On the operator's day, not Greenwich's. */
function spentTodayUsd({ log, clock }: Ports): Promise<number> {
  return log.sumCosts(new Date(clock.now()).setHours(0, 0, 0, 0));
}

/** Makes sure that a task has its own checkout. True: it has; otherwise something was recorded, and is decided anew. */
export async function hasWorktree(task: TaskId, { ports, journal, signal }: Performing): Promise<boolean> {
  const run = theRun(journal.state);
  const known = taskState(journal.state, task).worktree;
  // One that was begun in a worktree goes on there.
  const settings = known ?? run.settings.worktrees ?? null;
  if (settings === null || ports.parallel === null) return true;
  const { base, merge } = settings;
  const opened = await ports.parallel.worktrees.open(task, base, signal);
  // Nobody waits for it any more; the next effect for the task takes it up.
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
  { ports, journal }: Performing,
): Promise<() => Promise<readonly EventOf<"checkout.changed">[]>> {
  if (ports.parallel === null) return () => Promise.resolve([]);
  const changed = await ports.parallel.checkout.watch();
  const othersAtWork = (): readonly string[] =>
    journal.state.iterations.map((open) => open.task).filter((id) => id !== task);
  const before = othersAtWork();
  return async () => {
    const beside = [...new Set([...before, ...othersAtWork()])];
    const change = await changed((head) => isOurs(journal.state, head));
    return change === null ? [] : [{ type: "checkout.changed", run, task, iteration, beside, ...change }];
  };
}

/** A merge moves what is checked out, and is recorded right after. */
function isOurs({ tasks }: State, head: string | null): boolean {
  return Object.values(tasks).some(
    ({ merge }) => (merge?.is === "prepared" || merge?.is === "merged") && merge.to === head,
  );
}

/** Measurements under way, by the commit that they are made at. */
const underWay = new WeakMap<Journal, Map<string | null, Promise<void>>>();

/** How the gates stand before an agent touches anything, so that an old failure is not the agent's. */
async function measureBaseline(task: TaskId, head: string | null, performing: Performing): Promise<void> {
  const { journal } = performing;
  const measurements = underWay.get(journal) ?? new Map<string | null, Promise<void>>();
  underWay.set(journal, measurements);
  // Several lanes begin at the same commit: one of them asks, and all know.
  const mine =
    measurements.get(head) ?? measure(task, head, performing).finally(() => measurements.delete(head));
  measurements.set(head, mine);
  return mine;
}

async function measure(
  task: TaskId,
  head: string | null,
  { ports, journal, signal }: Performing,
): Promise<void> {
  const run = theRun(journal.state);
  const workspace = workspaceFor(ports, journal.state, task);
  const known = taskState(journal.state, task);
  const began = await workspace.beforeGates();
  const marker = baselineMarker(run, known);
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
export function baselineMarker(run: RunState, { id, worktree }: TaskState): string {
  return worktree === null ? `baseline-${run.id}` : `baseline-${run.id}-${id}`;
}

/** Gives a message of the operator's to the running agent; if it takes none, the next prompt has it. */
export async function tellAgent(effect: EffectOf<"tell-agent">, performing: Performing): Promise<void> {
  const { ports, journal } = performing;
  const { open, about, state } = openIteration(performing, effect.iteration);
  const message = state.steers.find(({ id }) => id === effect.steer);
  if (message === undefined) return;
  const isTold = await ports.agents.send(open.number, `Message from the operator: ${message.text}`);
  const said = { ...about, id: message.id };
  await journal.admit(({ iterations }) => {
    // An iteration that is over by now takes nothing along: the message still waits.
    if (!iterations.some(({ number }) => number === open.number)) return null;
    return [isTold ? { ...said, type: "steer.used", how: "message" } : { ...said, type: "steer.deferred" }];
  });
}

/** In a worktree the agent has a copy of its own, which is not merged. */
function listInReach({ source }: Ports, state: State, task: TaskId): TaskSource["list"] {
  return taskState(state, task).worktree === null ? source.list : undefined;
}

/** Records an iteration as interrupted: nobody saw how its agent ended. */
export async function closeOrphan(effect: EffectOf<"close-orphan">, performing: Performing): Promise<void> {
  const { ports, journal } = performing;
  const { open, about, state } = openIteration(performing, effect.iteration);
  const report = await ports.agents.recoverReport(open.number, open.startedAt);
  await listInReach(ports, state, open.task)?.see(allWritten(report));
  await journal.record({ ...about, type: "iteration.ended", report });
}
