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
} from "../../core/state.ts";
import type { TaskId } from "../../core/plan.ts";
import {
  compareWithBaseline,
  outcomeOf,
  redGates,
  type CheckedGate,
} from "../../core/verdict/checked-gate.ts";
import { unreachable } from "../../core/unreachable.ts";
import { commitRequest, plannedTask, theRun, type Performing } from "../look-around.ts";
import type { ParallelWork, OpenedCheckout } from "../parallel-ports.ts";
import type { AcceptedWork, Ports } from "../ports.ts";

/** Accepted work on its way to the base. */
interface Merge {
  readonly task: TaskId;
  readonly ports: Ports;
  readonly parallel: ParallelWork;
  readonly run: RunState;
  readonly worktree: OwnWorktree;
  readonly known: TaskState;
  readonly about: { readonly run: string; readonly task: TaskId; readonly iteration: number };
  /** That was accepted. */
  readonly commit: string;
  readonly title: string;
}

/** Prepares what the base will be, tries it out, records it, and moves the base: one step a call. */
export async function mergeTask(
  { task }: EffectOf<"merge-task">,
  { ports, journal, signal }: Performing,
): Promise<void> {
  const { state } = journal;
  const run = theRun(state);
  const known = taskState(state, task);
  const { worktree, completion } = known;
  const { parallel } = ports;
  if (worktree === null || parallel === null) return;
  const about = { run: run.id, task, iteration: completion?.iteration ?? 0 };
  const { title } = plannedTask(state, task);
  const commit = completion?.commit ?? "";
  const merge = { task, ports, parallel, run, worktree, known, about, commit, title };
  const events =
    known.merge?.is === "prepared" ? await advance(merge, known.merge) : await prepare(merge, signal);
  if (events.length > 0) await journal.record(...events);
}

function accepted({ run, known }: Merge, commit: string): AcceptedWork | undefined {
  return known.completion === null ? undefined : acceptedWork(run, { ...known.completion, commit });
}

async function prepare(merge: Merge, signal: AbortSignal): Promise<readonly Event[]> {
  const { ports, parallel, worktree, task, commit, title } = merge;
  const { base, merge: how } = worktree;
  if (how === "none") return [];
  const { path } = ports.source.identity;
  let isMarked = false;
  const apply = (file: Buffer): Buffer => {
    isMarked = true;
    return ports.source.markedIn(file, task, true);
  };
  const mark = path === null ? null : { path, apply };
  const request = { ...merge.about, title, commit, branch: worktree.branch, base };
  // Many pull requests that each mark a line of one file would conflict with one another.
  const prepared = await parallel.merging.prepare(
    how === "pr" ? { ...request, how: "squash", mark: null } : { ...request, how, mark },
  );
  switch (prepared.is) {
    case "nothing":
      if (!isMarked && how !== "pr") await ports.source.mark(task, accepted(merge, prepared.from));
      return merged(merge, prepared.from, prepared.from);
    case "gone":
      return held(
        merge,
        `${prepared.why}, or have the work done anew: ralph reset --task ${asArgument(task)}`,
      );
    case "conflict":
      if (prepared.why !== undefined)
        return held(merge, `${worktree.branch} cannot be merged into ${base}: ${prepared.why}`);
      return failed(merge, prepared.paths, []);
    case "ready": {
      const tried = await tryOut(ports, merge.run, merge.known, prepared.to, signal);
      if (signal.aborted) return [];
      if ("why" in tried) return [{ ...merge.about, type: "merge.held", why: tried.why }];
      const { from, to } = prepared;
      if (redGates(tried.gates).length > 0) return failed(merge, [], tried.gates);
      return how === "pr"
        ? proposeTask(merge, tried.gates, ports.source.closingWords?.(task) ?? null)
        : [{ ...merge.about, type: "merge.prepared", from, to, gates: tried.gates.map(outcomeOf), isMarked }];
    }
    default:
      return unreachable(prepared);
  }
}

type Trial = { readonly gates: readonly CheckedGate[] } | { readonly why: string };

/** The gates once more, on what the base would be. */
export async function tryOut(
  ports: Ports,
  run: RunState,
  { baseline }: TaskState,
  commit: string,
  signal: AbortSignal,
): Promise<Trial> {
  const { gates } = ports.commands;
  const { parallel } = ports;
  if (gates.length === 0 || parallel === null) return { gates: [] };
  const check = async (opened: OpenedCheckout): Promise<Trial> => {
    if (opened.is === "failed")
      return { why: `its merge could not be tried out, as the set-up failed: ${opened.why}` };
    const results = await ports.gates.check(gates, mergeMarker(run), signal, opened.root);
    return { gates: compareWithBaseline(results, gates, baseline) };
  };
  return parallel.worktrees.at(commit, check, signal);
}

/** Recovery finds by it what is left of gates on a merged result. */
export function mergeMarker({ id }: RunState): string {
  return `merge-${id}`;
}

/** Back to its agent, but not to commits of others that nobody has accepted. */
async function failed(
  merge: Merge,
  conflicts: readonly string[],
  gates: readonly CheckedGate[],
): Promise<readonly Event[]> {
  const { branch, base } = merge.worktree;
  const moved = await merge.parallel.merging.whatMoved(branch, merge.commit);
  if (moved === null || moved.isAhead)
    return mergeFailed(merge.known, merge.worktree, merge.about, { conflicts, gates });
  const what = conflicts.length > 0 ? "conflicts with" : "does not pass on";
  return held(
    merge,
    `its work ${what} ${base}, and its agent cannot go on: somebody moved ${branch}; put it back: ${moved.restore}`,
  );
}

async function advance(
  merge: Merge,
  { from, to, isMarked }: Extract<MergeState, { is: "prepared" }>,
): Promise<readonly Event[]> {
  const { base } = merge.worktree;
  const advanced = await merge.parallel.merging.advance({ ...merge.about, base, from, to });
  switch (advanced.is) {
    case "moved":
      // A file that git does not know is marked where it lies, as in place.
      if (!isMarked) await merge.ports.source.mark(merge.task, accepted(merge, to));
      return merged(merge, from, to);
    case "elsewhere":
      return [{ ...merge.about, type: "merge.overtaken", head: advanced.head }];
    case "waits": {
      const where = advanced.paths.length === 0 ? "" : ` (${few(advanced.paths)})`;
      const what =
        advanced.root === null
          ? `${base} cannot be moved: ${advanced.why}${where}`
          : `${base} is checked out in ${advanced.root}, and ${advanced.why}${where}`;
      return held(merge, what);
    }
    default:
      return unreachable(advanced);
  }
}

/** The next run tries it again. */
function held(merge: Merge, why: string): readonly Event[] {
  return [{ ...merge.about, type: "merge.held", why }];
}

async function merged(merge: Merge, from: string, to: string): Promise<readonly Event[]> {
  return [{ ...merge.about, type: "task.merged", from, to, ...(await leftOut(merge)) }];
}

/** What somebody did to the branch after its commit was accepted: that is not merged. */
async function leftOut({ parallel, worktree, commit }: Merge): Promise<{ readonly leftOut?: string }> {
  const { branch } = worktree;
  const moved = await parallel.merging.whatMoved(branch, commit);
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
  merge: Merge,
  gates: readonly CheckedGate[],
  /** By which the merge marks the task in its source. */
  closing: string | null,
): Promise<readonly Event[]> {
  const { title, known, commit, task } = merge;
  const { branch, base } = merge.worktree;
  const { run, iteration } = merge.about;
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
  const { hooks } = merge.run.settings.git;
  const work = { commit, branch, base, title: `${task}: ${title}`, body, hooks };
  const answer = await merge.parallel.pullRequests.propose(work);
  if (answer.is === "refused") return held(merge, answer.why);
  return [{ ...merge.about, type: "task.proposed", url: answer.url, ...(await leftOut(merge)) }];
}

/** The base has its work, or people will bring it there. What nobody committed makes it stay; it is listed then, and forgotten by the loop. */
export async function removeWorktree(
  { task }: EffectOf<"remove-worktree">,
  { ports, journal }: Performing,
): Promise<void> {
  const { worktree, merge } = taskState(journal.state, task);
  const isGone = (await ports.parallel?.worktrees.remove(task)) ?? false;
  if (isGone && worktree !== null && merge?.is === "merged")
    await ports.parallel?.merging.rename(worktree.branch, mergedBranch(worktree.branch));
  await journal.record({ type: "worktree.removed", run: theRun(journal.state).id, task });
}

/** Writes into the operator's file what became of a task, and commits just that. The fact came first. */
export async function markTask(
  { task: id }: EffectOf<"mark-task">,
  { ports, journal }: Performing,
): Promise<void> {
  const { state } = journal;
  const run = theRun(state);
  const { completion, storyEdits } = taskState(state, id);
  if (completion === null && storyEdits === null) return;
  const { review } = plannedTask(state, id);
  if (storyEdits === null)
    await ports.source.mark(id, completion === null ? undefined : acceptedWork(run, completion));
  else await ports.source.stories?.edit(storyEdits.edits);
  const { path } = ports.source.identity;
  const request = {
    ...commitRequest(state, id, storyEdits?.iteration ?? completion?.iteration ?? 0),
    ...(completion === null && { what: `review ${review?.reviewStatus ?? "not begun"}` }),
  };
  const mark = path === null ? null : await ports.workspace.commitMark({ ...request, path });
  const parent = mark === null ? (await ports.workspace.snapshot()).head : mark.parent;
  await journal.record({ type: "task.marked", run: run.id, task: id, commit: mark?.commit ?? null, parent });
}

/** What may be told about a completed task; `commit` is where its work is now. */
function acceptedWork(
  { id, settings }: RunState,
  { iteration, commit }: NonNullable<TaskState["completion"]>,
): AcceptedWork {
  const gates = settings.gates.filter(({ required }) => required).map(({ name }) => name);
  return { run: id, iteration, commit, gates };
}
