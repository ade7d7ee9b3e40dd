import { asideBranch, DETACHED, few } from "../../core/text.ts";
import type { Event, EventOf } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { COMMITS_GONE } from "../../core/loop/evolve-work.ts";
import { taskState, type State, type Work } from "../../core/state.ts";
import { isAcceptedByPerson } from "../../core/loop/task-status.ts";
import type { TaskId } from "../../core/plan.ts";
import { redGates } from "../../core/verdict/checked-gate.ts";
import type { BranchMove, BranchMoved, Merging } from "../parallel-ports.ts";
import type { CommitRequest, Ports, Snapshot, WatchRequest } from "../ports.ts";
import {
  commitRequest,
  listsOf,
  theRun,
  watchRequest,
  workspaceFor,
  type Performing,
} from "../look-around.ts";
import { hasWorktree } from "./iterate.ts";
import { tryOut } from "./merge-task.ts";

type Leaving = Extract<Work, { is: "leaving" | "aside" }>;
type Returning = Extract<Work, { is: "returning" }>;

/** Takes unaccepted work off the operator's branch: one step a call, and the branch moves after it is recorded. */
export async function setAside(
  { task }: EffectOf<"set-aside">,
  { ports, journal }: Performing,
): Promise<void> {
  const { state } = journal;
  const { work } = taskState(state, task);
  const about = { run: theRun(state).id, task };
  const merging = ports.parallel?.merging;
  if (merging === undefined) return journal.record({ ...about, type: "work.stayed", why: "there is no git" });
  if (work?.is === "in-place") return journal.record(await leaving(task, ports, merging, state));
  if (work?.is !== "leaving") return;
  const moved = await merging.set(leavingMove(work, ports));
  if (moved.is !== "moved") return journal.record({ ...about, type: "work.stayed", why: inWords(moved) });
  // Marks that were committed among the work stay on the branch.
  for (const path of moved.held)
    await ports.workspace.commitMark({ ...nextCommit(task, state), path, what: "keep the list" });
  await journal.record({ ...about, type: "work.left", aside: work.aside });
}

function inWords({ why, paths }: Extract<BranchMoved, { is: "stays" }>): string {
  return paths.length === 0 ? why : `${why} (${few(paths)})`;
}

/** What was begun before a crash; safe to repeat. */
export async function finishMoves({ parallel, ...ports }: Ports, state: State): Promise<void> {
  for (const { work, worktree } of Object.values(state.tasks)) {
    if (work?.is === "leaving") await parallel?.merging.set(leavingMove(work, ports));
    if (work?.is === "returning" && worktree === null)
      await parallel?.merging.set(returningMove(work, ports));
  }
}

function leavingMove({ branch, base, head }: Leaving, ports: Pick<Ports, "source">): BranchMove {
  return { branch, from: head, to: base, hold: listsOf(ports) };
}

function returningMove({ branch, from, to }: Returning, ports: Pick<Ports, "source">): BranchMove {
  return { branch, from, to, hold: listsOf(ports) };
}

async function leaving(id: TaskId, ports: Ports, merging: Merging, state: State): Promise<Event> {
  const { work, workBase } = taskState(state, id);
  const about = { run: theRun(state).id, task: id };
  const stayed = (why: string | null): EventOf<"work.stayed"> => ({ ...about, type: "work.stayed", why });
  if (work?.is !== "in-place" || workBase === null) return stayed(null);
  const { branch } = work;
  if (workBase.earlier.files > 0) return stayed("others have committed in between");
  const committed = await ports.workspace.commitWork(
    leftWork(id, state, { head: workBase.head, branch }, listsOf(ports)),
  );
  if (committed.is === "moved") return stayed("somebody else has moved the branch");
  const { head, left } = committed;
  const { base } = workBase;
  if (head === null || head === base) return stayed(null);
  const aside = await merging.keep(asideBranch(id), head);
  if (aside === null) return stayed(`git cannot make the branch ${asideBranch(id)}`);
  return { ...about, type: "work.leaving", aside, branch: branch ?? DETACHED, base, head, left };
}

/** What the task has left uncommitted in the operator's checkout. */
export function leftWork(
  id: TaskId,
  state: State,
  from: Snapshot,
  lists: readonly string[],
): CommitRequest & WatchRequest {
  return { ...nextCommit(id, state), ...watchRequest(state, id, from, lists) };
}

/** The next number: nothing else is committed under it. */
function nextCommit(id: TaskId, state: State): CommitRequest {
  return commitRequest(state, id, state.lastIteration);
}

/** Brings the work of a task back to where it goes on, or completes what a person has accepted: one step a call. */
export async function bringBack({ task }: EffectOf<"bring-back">, performing: Performing): Promise<void> {
  const { ports, journal } = performing;
  if (!(await hasWorktree(task, performing))) return;
  const { state } = journal;
  const { work } = taskState(state, task);
  const merging = ports.parallel?.merging;
  if (merging === undefined) return;
  const about = { run: theRun(state).id, task };
  if (work?.is === "aside") {
    const event = await returning(work, task, performing, merging);
    if (event !== null) await journal.record(event);
    return;
  }
  if (work?.is !== "returning") return;
  const { aside, branch, from } = work;
  const moved = await merging.set(returningMove(work, ports));
  if (moved.is === "moved") {
    await merging.drop(aside, work.head);
    return journal.record({ ...about, type: "work.returned" });
  }
  const now = await workspaceFor(ports, state, task).snapshot();
  // Another try makes it anew on what the branch is by then.
  if ((now.branch ?? DETACHED) !== branch || now.head !== from)
    return journal.record({ ...about, type: "work.left", aside });
  await journal.record({ ...about, type: "work.refused", aside, why: inWords(moved) });
}

async function returning(
  work: Leaving,
  id: TaskId,
  { ports, journal, signal }: Performing,
  merging: Merging,
): Promise<Event | null> {
  const { state } = journal;
  const run = theRun(state);
  const about = { run: run.id, task: id };
  const known = taskState(state, id);
  const { branch: checkedOut, head: from } = await workspaceFor(ports, state, id).snapshot();
  const branch = checkedOut ?? DETACHED;
  const refused = (why: string): Event => ({ ...about, type: "work.refused", aside: work.aside, why });
  if (!(await merging.has(work.head))) return refused(COMMITS_GONE);
  const isAccepted = isAcceptedByPerson(known);
  const moved = await merging.whatMoved(work.aside, work.head);
  // A person may have gone on with it there; accepted is what was asked about.
  const head = !isAccepted && moved?.isAhead === true ? (moved.tip ?? work.head) : work.head;
  if (from === work.base) return { ...about, type: "work.returning", branch, from, to: head };
  if (from === null) return refused("the branch has no commit");
  const { path } = ports.source.identity;
  const prepared = await merging.revert({
    ...nextCommit(id, state),
    base: branch,
    what: "earlier work",
    spans: [{ from: head, to: work.base }],
    mark: path === null ? null : { path, apply: (file) => file },
  });
  if (prepared.is === "conflict") return refused(`it conflicts with later work in ${few(prepared.paths)}`);
  const to = prepared.is === "nothing" ? prepared.from : prepared.to;
  if (isAccepted && prepared.is === "ready") {
    const tried = await tryOut(ports, run, known, to, signal);
    if (signal.aborted) return null;
    const red = "why" in tried ? [] : redGates(tried.gates).map(({ name }) => name);
    if ("why" in tried) return refused(tried.why);
    if (red.length > 0) return refused(`on top of later work ${few(red)} would fail`);
  }
  return { ...about, type: "work.returning", branch, from, to };
}
