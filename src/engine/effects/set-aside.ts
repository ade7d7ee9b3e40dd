import { asideBranch, DETACHED, few } from "../../core/text.ts";
import type { Event, EventOf } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { COMMITS_GONE } from "../../core/loop/evolve-worktrees.ts";
import { leftoversOf, taskState, type State, type Work } from "../../core/loop/state.ts";
import { isAcceptedByPerson } from "../../core/loop/task-status.ts";
import type { TaskId } from "../../core/plan/task.ts";
import { redGates } from "../../core/report/checked-gate.ts";
import type { Journal } from "../journal.ts";
import type { BranchMove, BranchMoved, Merging } from "../parallel-ports.ts";
import type { CommitRequest, Ports, Snapshot, WatchRequest } from "../ports.ts";
import { workspaceFor } from "../workspace-for.ts";
import { hasWorktree } from "./iterate.ts";
import { tryOut } from "./merge-task.ts";

type Leaving = Extract<Work, { is: "leaving" | "aside" }>;
type Returning = Extract<Work, { is: "returning" }>;

/** Takes unaccepted work off the operator's branch: one step a call, and the branch moves after it is recorded. */
export async function setAside(effect: EffectOf<"set-aside">, ports: Ports, journal: Journal): Promise<void> {
  const { state } = journal;
  const { work } = taskState(state, effect.task);
  if (state.run === null) return;
  const about = { run: state.run.id, task: effect.task };
  const merging = ports.beside?.merging;
  if (merging === undefined) return journal.record({ ...about, type: "work.stayed", why: "there is no git" });
  if (work?.is === "in-place")
    return journal.record(await leaving(effect.task, ports, merging, state, about));
  if (work?.is !== "leaving") return;
  const moved = await merging.set(leavingMove(work, ports));
  if (moved.is === "moved") {
    // Marks that were committed among the work stay on the branch.
    for (const path of moved.held)
      await ports.workspace.commitMark({ ...commitOf(effect.task, state), path, what: "keep the list" });
    return journal.record({ ...about, type: "work.left", aside: work.aside });
  }
  await journal.record({ ...about, type: "work.stayed", why: inWords(moved) });
}

function inWords({ why, paths }: Extract<BranchMoved, { is: "stays" }>): string {
  return paths.length === 0 ? why : `${why} (${few(paths)})`;
}

/** What was begun before a crash; safe to repeat. */
export async function finishMoves({ beside, ...ports }: Ports, state: State): Promise<void> {
  for (const { work, worktree } of Object.values(state.tasks)) {
    if (work?.is === "leaving") await beside?.merging.set(leavingMove(work, ports));
    if (work?.is === "returning" && worktree === null) await beside?.merging.set(returningMove(work, ports));
  }
}

function leavingMove({ branch, base, head }: Leaving, ports: Pick<Ports, "source">): BranchMove {
  return { branch, from: head, to: base, hold: listsOf(ports) };
}

function returningMove({ branch, from, to }: Returning, ports: Pick<Ports, "source">): BranchMove {
  return { branch, from, to, hold: listsOf(ports) };
}

/** The operator's lists stay as they are, whatever commits come and go. */
function listsOf({ source }: Pick<Ports, "source">): readonly string[] {
  return source.files.filter(({ isAgents }) => !isAgents).map(({ path }) => path);
}

async function leaving(
  id: TaskId,
  ports: Ports,
  merging: Merging,
  state: State,
  about: { readonly run: string; readonly task: TaskId },
): Promise<Event> {
  const { work, footing } = taskState(state, id);
  const stayed = (why: string | null): EventOf<"work.stayed"> => ({ ...about, type: "work.stayed", why });
  if (work?.is !== "in-place" || footing === null) return stayed(null);
  const { branch } = work;
  if (footing.earlier.files > 0) return stayed("others have committed in between");
  const from = { head: footing.head, branch };
  const committed = await ports.workspace.commitWork(leftWork(id, state, from, listsOf(ports)));
  if (committed.is === "moved") return stayed("somebody else has moved the branch");
  const { head, left } = committed;
  if (head === null || head === footing.base) return stayed(null);
  const aside = await merging.keep(asideBranch(id), head);
  if (aside === null) return stayed(`git cannot make the branch ${asideBranch(id)}`);
  return {
    ...about,
    type: "work.leaving",
    aside,
    branch: branch ?? DETACHED,
    base: footing.base,
    head,
    left,
  };
}

/** What the task has left uncommitted in the operator's checkout. */
export function leftWork(
  id: TaskId,
  state: State,
  from: Snapshot,
  lists: readonly string[],
): CommitRequest & WatchRequest {
  const { byAgents: leftBefore, byGates: leftByGates, gatesRan } = leftoversOf(state, id);
  const { leaveAlone = [] } = state.run?.settings ?? {};
  return { ...commitOf(id, state), from, ignore: lists, leaveAlone, leftBefore, leftByGates, gatesRan };
}

/** The next number: nothing else is committed under it. */
function commitOf(id: TaskId, { run, plan, lastIteration }: State): CommitRequest {
  const title = plan?.tasks.find((task) => task.id === id)?.title ?? id;
  const hooks = run?.settings.git.hooks ?? false;
  return { run: run?.id ?? "", task: id, iteration: lastIteration, title, hooks };
}

/** Brings the work of a task back to where it goes on, or completes what a person has accepted: one step a call. */
export async function bringBack(
  effect: EffectOf<"bring-back">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  if (!(await hasWorktree(effect.task, ports, journal, signal))) return;
  const { state } = journal;
  const { run, tasks } = state;
  const known = tasks[effect.task];
  const merging = ports.beside?.merging;
  if (run === null || known === undefined || merging === undefined) return;
  const about = { run: run.id, task: effect.task };
  if (known.work?.is === "aside") {
    const event = await returning(known.work, effect.task, ports, merging, state, signal);
    if (event !== null) await journal.record(event);
    return;
  }
  if (known.work?.is !== "returning") return;
  const moved = await merging.set(returningMove(known.work, ports));
  if (moved.is === "moved") {
    await merging.drop(known.work.aside, known.work.head);
    return journal.record({ ...about, type: "work.returned" });
  }
  const { aside, branch, from } = known.work;
  const now = await workspaceFor(ports, state, effect.task).snapshot();
  // Another try makes it anew on what the branch is by then.
  if ((now.branch ?? DETACHED) !== branch || now.head !== from)
    return journal.record({ ...about, type: "work.left", aside });
  await journal.record({ ...about, type: "work.refused", aside, why: inWords(moved) });
}

async function returning(
  work: Leaving,
  id: TaskId,
  ports: Ports,
  merging: Merging,
  state: State,
  signal: AbortSignal,
): Promise<Event | null> {
  const { run } = state;
  if (run === null) return null;
  const about = { run: run.id, task: id };
  const { branch: checkedOut, head: from } = await workspaceFor(ports, state, id).snapshot();
  const branch = checkedOut ?? DETACHED;
  const refused = (why: string): Event => ({ ...about, type: "work.refused", aside: work.aside, why });
  if (!(await merging.has(work.head))) return refused(COMMITS_GONE);
  const isAccepted = isAcceptedByPerson(taskState(state, id));
  const moved = await merging.whatMoved(work.aside, work.head);
  // A person may have gone on with it there; accepted is what was asked about.
  const head = !isAccepted && moved?.isAhead === true ? (moved.tip ?? work.head) : work.head;
  if (from === work.base) return { ...about, type: "work.returning", branch, from, to: head };
  if (from === null) return refused("the branch has no commit");
  const prepared = await merging.revert({
    ...commitOf(id, state),
    base: branch,
    what: "earlier work",
    spans: [{ from: head, to: work.base }],
    mark:
      ports.source.identity.path === null
        ? null
        : { path: ports.source.identity.path, apply: (file) => file },
  });
  if (prepared.is === "conflict") return refused(`it conflicts with later work in ${few(prepared.paths)}`);
  const to = prepared.is === "nothing" ? prepared.from : prepared.to;
  if (isAccepted && prepared.is === "ready") {
    const tried = await tryOut({ ports, run, baseline: taskState(state, id).baseline }, to, signal);
    if (signal.aborted) return null;
    const red = "why" in tried ? [] : redGates(tried.gates).map(({ name }) => name);
    if ("why" in tried) return refused(tried.why);
    if (red.length > 0) return refused(`on top of later work ${few(red)} would fail`);
  }
  return { ...about, type: "work.returning", branch, from, to };
}
