import { asArgument, few, mergedBranch } from "../../core/text.ts";
import type { Event } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { mergeFailed } from "../../core/loop/task-status.ts";
import {
  taskState,
  type RunState,
  type TaskState,
  type MergeState,
  type OwnWorktree,
} from "../../core/loop/state.ts";
import type { TaskId } from "../../core/plan/task.ts";
import {
  compareWithBaseline,
  outcomeOf,
  redGates,
  type CheckedGate,
} from "../../core/report/checked-gate.ts";
import { unreachable } from "../../core/unreachable.ts";
import type { Journal } from "../journal.ts";
import type { Beside, OpenedCheckout } from "../parallel-ports.ts";
import type { AcceptedWork, Ports } from "../ports.ts";

/** Prepares what the base will be, tries it out, records it, and moves the base: one step a call. */
export async function mergeTask(
  effect: EffectOf<"merge-task">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { run } = journal.state;
  const known = taskState(journal.state, effect.task);
  if (run === null || known.worktree === null || ports.beside === null) return;
  const title = journal.state.plan?.tasks.find(({ id }) => id === effect.task)?.title ?? effect.task;
  const commit = known.completion?.commit ?? "";
  const { worktree } = known;
  const way = { task: effect.task, ports, beside: ports.beside, run, worktree, known, commit, title };
  const events =
    known.merge?.is === "prepared" ? await advance(way, known.merge) : await prepare(way, signal);
  if (events.length > 0) await journal.record(...events);
}

interface Way {
  readonly task: TaskId;
  readonly ports: Ports;
  readonly beside: Beside;
  readonly run: RunState;
  readonly worktree: OwnWorktree;
  readonly known: TaskState;
  /** That was accepted. */
  readonly commit: string;
  readonly title: string;
}

function about({ run, task, known }: Way): { run: string; task: TaskId; iteration: number } {
  return { run: run.id, task, iteration: known.completion?.iteration ?? 0 };
}

function accepted({ run, known }: Way, commit: string): AcceptedWork | undefined {
  return known.completion === null ? undefined : acceptedWork(run, { ...known.completion, commit });
}

async function prepare(way: Way, signal: AbortSignal): Promise<readonly Event[]> {
  const { ports, beside, worktree, task, commit } = way;
  const { base, merge: how } = worktree;
  if (how === "none") return [];
  const { path } = ports.source.identity;
  let isMarked = false;
  const apply = (file: Buffer): Buffer => {
    isMarked = true;
    return ports.source.markedIn(file, task, true);
  };
  const mark = path === null ? null : { path, apply };
  const request = { ...about(way), title: way.title, commit, branch: worktree.branch, base };
  // Many pull requests that each mark a line of one file would conflict with one another.
  const prepared = await beside.merging.prepare(
    how === "pr" ? { ...request, how: "squash", mark: null } : { ...request, how, mark },
  );
  switch (prepared.is) {
    case "nothing":
      if (!isMarked && how !== "pr") await ports.source.mark(task, accepted(way, prepared.from));
      return merged(way, prepared.from, prepared.from);
    case "gone":
      return held(way, `${prepared.why}, or have the work done anew: ralph reset --task ${asArgument(task)}`);
    case "conflict":
      if (prepared.why !== undefined)
        return held(way, `${worktree.branch} cannot be merged into ${base}: ${prepared.why}`);
      return failed(way, prepared.paths, []);
    case "ready": {
      const tried = await tryOut({ ports, run: way.run, baseline: way.known.baseline }, prepared.to, signal);
      if (signal.aborted) return [];
      if ("why" in tried) return [{ ...about(way), type: "merge.held", why: tried.why }];
      const { from, to } = prepared;
      if (redGates(tried.gates).length > 0) return failed(way, [], tried.gates);
      return how === "pr"
        ? proposeTask(way, tried.gates, ports.source.closingWords?.(task) ?? null)
        : [{ ...about(way), type: "merge.prepared", from, to, gates: tried.gates.map(outcomeOf), isMarked }];
    }
    default:
      return unreachable(prepared);
  }
}

type Trial = { readonly gates: readonly CheckedGate[] } | { readonly why: string };

interface TrialParts {
  readonly ports: Ports;
  readonly run: RunState;
  readonly baseline: TaskState["baseline"];
}

/** The gates once more, on what the base would be. */
export async function tryOut(
  { ports, run, baseline }: TrialParts,
  commit: string,
  signal: AbortSignal,
): Promise<Trial> {
  const { gates } = ports.commands;
  const { beside } = ports;
  if (gates.length === 0 || beside === null) return { gates: [] };
  const check = async (opened: OpenedCheckout): Promise<Trial> => {
    if (opened.is === "failed")
      return { why: `its merge could not be tried out, as the set-up failed: ${opened.why}` };
    const results = await ports.gates.check(gates, mergeMarker(run.id), signal, opened.root);
    return { gates: compareWithBaseline(results, gates, baseline) };
  };
  return beside.worktrees.at(commit, check, signal);
}

/** Recovery finds by it what is left of gates on a merged result. */
export function mergeMarker(run: string): string {
  return `merge-${run}`;
}

/** Back to its agent, but not to commits of others that nobody has accepted. */
async function failed(
  way: Way,
  conflicts: readonly string[],
  gates: readonly CheckedGate[],
): Promise<readonly Event[]> {
  const { branch, base } = way.worktree;
  const moved = await way.beside.merging.whatMoved(branch, way.commit);
  if (moved === null || moved.isAhead)
    return mergeFailed(way.known, way.worktree, about(way), { conflicts, gates });
  const what = conflicts.length > 0 ? "conflicts with" : "does not pass on";
  return held(
    way,
    `its work ${what} ${base}, and its agent cannot go on: somebody moved ${branch}; put it back: ${moved.restore}`,
  );
}

async function advance(
  way: Way,
  { from, to, isMarked }: Extract<MergeState, { is: "prepared" }>,
): Promise<readonly Event[]> {
  const { base } = way.worktree;
  const advanced = await way.beside.merging.advance({ ...about(way), base, from, to });
  switch (advanced.is) {
    case "moved":
      // A file that git does not know is marked where it lies, as in place.
      if (!isMarked) await way.ports.source.mark(way.task, accepted(way, to));
      return merged(way, from, to);
    case "elsewhere":
      return [{ ...about(way), type: "merge.overtaken", head: advanced.head }];
    case "waits": {
      const where = advanced.paths.length === 0 ? "" : ` (${few(advanced.paths)})`;
      const what =
        advanced.root === null
          ? `${base} cannot be moved: ${advanced.why}${where}`
          : `${base} is checked out in ${advanced.root}, and ${advanced.why}${where}`;
      return held(way, what);
    }
    default:
      return unreachable(advanced);
  }
}

/** The next run tries it again. */
function held(way: Way, why: string): readonly Event[] {
  return [{ ...about(way), type: "merge.held", why }];
}

async function merged(way: Way, from: string, to: string): Promise<readonly Event[]> {
  return [{ ...about(way), type: "task.merged", from, to, ...(await leftOut(way)) }];
}

/** What somebody did to the branch after its commit was accepted: that is not merged. */
async function leftOut({ beside, worktree, commit }: Way): Promise<{ readonly leftOut?: string }> {
  const { branch } = worktree;
  const moved = await beside.merging.whatMoved(branch, commit);
  if (moved === null) return {};
  const accepted = `the accepted commit ${commit.slice(0, 7)}`;
  if (moved.tip === null) return { leftOut: `somebody deleted ${branch}; ${accepted} is what counts` };
  const count = moved.commits === 1 ? "1 commit" : `${moved.commits} commits`;
  const what = moved.isAhead
    ? `${branch} has ${count} on top of ${accepted}`
    : `${branch} was moved away from ${accepted}, and has ${count} besides`;
  const range = `${commit.slice(0, 12)}..${moved.tip.slice(0, 12)}`;
  return { leftOut: `${what}; these are not merged (git log ${range}), and stay on ${moved.where}` };
}

/** Leaves it to people to bring the work to the base. May be repeated: there is one pull request. */
async function proposeTask(
  way: Way,
  gates: readonly CheckedGate[],
  /** By which the merge marks the task in its source. */
  closing: string | null,
): Promise<readonly Event[]> {
  const { title, known, commit, task } = way;
  const { branch, base } = way.worktree;
  const { run, iteration } = about(way);
  const passed = gates.filter(({ status }) => status === "passed").map(({ name }) => name);
  const count = known.allIterations === 1 ? "one iteration" : `${known.allIterations} iterations`;
  const body = [
    title === task ? `Task \`${task}\`` : `Task \`${task}\`: ${title}`,
    `Accepted after ${count} (run ${run}, iteration ${iteration}).`,
    passed.length === 0
      ? "No gate is configured."
      : `Merged into ${base} as it was then, these pass: ${few(passed, 20)}.`,
    ...(closing === null ? [] : [closing]),
  ].join("\n\n");
  const work = { commit, branch, base, title: `${task}: ${title}`, body };
  const answer = await way.beside.pullRequests.propose(work);
  if (answer.is === "refused") return held(way, answer.why);
  return [{ ...about(way), type: "task.proposed", url: answer.url, ...(await leftOut(way)) }];
}

/** The base has its work, or people will bring it there. What nobody committed makes it stay; it is listed then, and forgotten by the loop. */
export async function removeWorktree(
  { task }: EffectOf<"remove-worktree">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { run } = journal.state;
  if (run === null) return;
  const { worktree, merge } = taskState(journal.state, task);
  const isGone = (await ports.beside?.worktrees.remove(task)) ?? false;
  if (isGone && worktree !== null && merge?.is === "merged")
    await ports.beside?.merging.rename(worktree.branch, mergedBranch(worktree.branch));
  await journal.record({ type: "worktree.removed", run: run.id, task });
}

/** Writes into the operator's file what became of a task, and commits just that. The fact came first. */
export async function markTask(effect: EffectOf<"mark-task">, ports: Ports, journal: Journal): Promise<void> {
  const { run, plan } = journal.state;
  if (run === null || plan === null) return;
  const { completion, storyEdits } = taskState(journal.state, effect.task);
  if (completion === null && storyEdits === null) return;
  const task = plan.tasks.find(({ id }) => id === effect.task);
  if (storyEdits === null)
    await ports.source.mark(effect.task, completion === null ? undefined : acceptedWork(run, completion));
  else await ports.source.stories?.edit(storyEdits.edits);
  const about = {
    run: run.id,
    task: effect.task,
    iteration: storyEdits?.iteration ?? completion?.iteration ?? 0,
    title: task?.title ?? effect.task,
    ...(completion === null && { what: `review ${task?.review?.reviewStatus ?? "not begun"}` }),
    hooks: run.settings.git.hooks,
  };
  const { path } = ports.source.identity;
  const mark = path === null ? null : await ports.workspace.commitMark({ ...about, path });
  const parent = mark === null ? (await ports.workspace.snapshot()).head : mark.parent;
  const commit = mark?.commit ?? null;
  await journal.record({ type: "task.marked", run: run.id, task: effect.task, commit, parent });
}

/** What may be told about a completed task; `commit` is where its work is now. */
function acceptedWork(
  { id, settings }: RunState,
  { iteration, commit }: NonNullable<TaskState["completion"]>,
): AcceptedWork {
  const gates = settings.gates.filter(({ required }) => required).map(({ name }) => name);
  return { run: id, iteration, commit, gates };
}
