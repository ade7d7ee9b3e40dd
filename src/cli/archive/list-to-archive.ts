import { hasLog, readConfig, shownSource, sourceOf, type Project } from "../../compose.ts";
import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import { sameSource, type Plan, type SourceIdentity, type TaskId } from "../../core/plan/task.ts";
import { RECORD_EVENTS } from "../../core/projections/iteration-record.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import type { CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { sourceRequest, type SourceFlags } from "../source-request.ts";

/** A list of tasks with everything that is known of it. */
export interface ListToArchive {
  readonly opened: TaskSource | null;
  readonly identity: SourceIdentity | null;
  /** What a person knows the source by. */
  readonly source: string | null;
  readonly plan: Plan | null;
  /** Why there is no plan. */
  readonly problem: string | null;
  readonly state: State;
  readonly events: readonly Recorded[];
  /** Every task that was ever seen in this source and that the state knows. */
  readonly tasks: readonly TaskId[];
  /** Names of their letters in `.ralph/`. */
  readonly letters: readonly string[];
  /** Whether any of its tasks was ever worked on. */
  readonly isBegun: boolean;
}

/** Refuses while an iteration is open, even one whose process died. */
export async function listToArchive(
  project: Project,
  flags: SourceFlags,
  context: CliContext,
): Promise<ListToArchive> {
  const state = await readState(project);
  refuseHalfDone(project, state);
  const opened = await openedSource(project, flags, context);
  const identity = opened?.identity ?? null;
  refuseForeign(identity);
  const events = await eventsOf(project);
  const { plan, problem } = await planOf(opened);
  const seen = events.flatMap((event) =>
    event.type === "tasks.observed" && identity !== null && sameSource(event.plan.source, identity)
      ? event.plan.tasks
      : [],
  );
  const ids = new Set([...(plan?.tasks ?? []), ...seen].map(({ id }) => id));
  const known = Object.values(state.tasks).filter(({ id }) => ids.has(id));
  return {
    opened,
    identity,
    source: identity?.path ?? identity?.label ?? null,
    plan,
    problem,
    state,
    events,
    tasks: known.map(({ id }) => id),
    letters: known.flatMap(({ letter }) => letter?.file ?? []),
    isBegun: known.some(({ footing }) => footing !== null),
  };
}

/** Their lists have no end: what is done stays in them, marked. */
function refuseForeign(identity: SourceIdentity | null): void {
  if (identity === null || !["task-list", "beads", "ralphex", "github"].includes(identity.kind)) return;
  throw new RalphError("usage", `${identity.label} belongs to another program, so it is not put away`, {
    hint: "begin the next list there, as that program does; ralph reset --task forgets a task",
  });
}

function refuseHalfDone({ queue }: Project, { iterations: [open] }: State): void {
  if (open === undefined) return;
  if (queue !== null)
    throw new RalphError("already-running", `iteration ${open.number} of ${open.task} is not at its end`, {
      hint: "let a worker take it up first: ralph worker --drain; after that: ralph archive",
    });
  throw new RalphError("already-running", `the last run died in the middle of iteration ${open.number}`, {
    hint: "let it be taken up first: ralph run (Ctrl-C then ends it); after that: ralph archive",
  });
}

/** A file that is named must be there; without one, requirements and notes may be archived alone. */
async function openedSource(
  project: Project,
  flags: SourceFlags,
  { cwd, env }: CliContext,
): Promise<TaskSource | null> {
  const config = await readConfig(project, env);
  const request = sourceRequest(undefined, flags, config, { cwd, root: project.root, env });
  try {
    return await shownSource(project, (await sourceOf(project, request)).source, env);
  } catch (error) {
    if (request.is === "auto" && error instanceof RalphError && error.code === "no-tasks") return null;
    throw error;
  }
}

/** A list that cannot be worked on can still be put away. */
async function planOf(
  source: TaskSource | null,
): Promise<{ readonly plan: Plan | null; readonly problem: string | null }> {
  try {
    return { plan: (await source?.observe()) ?? null, problem: null };
  } catch (error) {
    if (error instanceof RalphError && (error.code === "bad-tasks" || error.code === "no-tasks"))
      return { plan: null, problem: error.message };
    throw error;
  }
}

async function eventsOf(project: Project): Promise<readonly Recorded[]> {
  if (!hasLog(project)) return [];
  const types = [...RECORD_EVENTS, "run.started", "run.ended", "task.reset", "tasks.observed"] as const;
  return withLog(project, (log) => log.read(0, { types }));
}
