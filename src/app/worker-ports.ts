import { dirname, join } from "node:path";
import { SharedWorktrees } from "../adapters/fleet/shared-worktrees.ts";
import { createRemote } from "../adapters/fleet/remote.ts";
import { createFence } from "../adapters/fleet/fence.ts";
import { createSharedMerging } from "../adapters/fleet/shared-merging.ts";
import { progressRow } from "../adapters/files/progress-file.ts";
import { openDatabase } from "../adapters/fleet/database.ts";
import { openFleet } from "../adapters/fleet/fleet.ts";
import { openPostgresLog } from "../adapters/fleet/postgres-log.ts";
import type { WorkerIdentity } from "../adapters/fleet/leases.ts";
import { redactingLog } from "../adapters/store/redacting-log.ts";
import { inTurn, systemClock } from "../adapters/process/system-clock.ts";
import { sweepWith } from "../adapters/process/process-sweep.ts";
import type { GithubPlace } from "../adapters/tasks/gh.ts";
import { sourceNamed } from "../adapters/tasks/open-source.ts";
import { submittedSource } from "../adapters/tasks/redacting-source.ts";
import { removeAbandonedOldChecks } from "../adapters/git/workspace/old-checks.ts";
import { worktreeName } from "../adapters/git/worktrees/registry.ts";
import { prepareRalphFolder } from "../adapters/files/ralph-folder.ts";
import { parallelWorkOf, workspaceOf, workspacesBeside } from "./git-parts.ts";
import type { Plugins } from "./plugins.ts";
import { type Project, type Queue, secretsOf } from "./project.ts";
import { composePorts, keepAwakeOf, type RunParts } from "./run-ports.ts";
import { gatesOfRun } from "../core/loop/submission.ts";
import { wasElsewhere } from "../core/loop/evolve-work.ts";
import { EMPTY_STATE, markersOf, type State, type TaskState } from "../core/state.ts";
import type { TaskId } from "../core/plan.ts";
import { createRedactor, withoutOwnSecrets } from "../core/redact.ts";
import type { Commands } from "../core/settings.ts";
import type { ParallelWork } from "../engine/parallel-ports.ts";
import type { Follower, Ports, Progress } from "../engine/ports.ts";
import { fencedLog, Holdings } from "../engine/worker/holdings.ts";
import { SharedClock } from "../engine/worker/run-worker.ts";

export interface WorkerParts {
  readonly project: Project;
  readonly queue: Queue;
  readonly worker: WorkerIdentity;
  /** What this machine's own configuration says. */
  readonly commands: Commands;
  readonly plugins: Plugins;
  readonly worktree: { readonly setup: string; readonly include: readonly string[] };
  /** What becomes of tasks that are issues. */
  readonly github: GithubPlace;
  readonly keepAwake: boolean;
  readonly onProgress: (progress: Progress) => void;
  readonly onTrouble: (what: string) => void;
}

/** By which whatever a worker has started is known, also to the next process of it. */
const WORKER_VARIABLE = "RALPH_WORKER";

/** Everything that a worker works with; the real outside is behind it. */
export async function composeWorker(parts: WorkerParts) {
  const { project, queue, worker, commands, onTrouble } = parts;
  const redact = createRedactor(secretsOf(project, commands));
  const tell = (what: string): void => onTrouble(redact(what));
  const holdings = new Holdings(queue.leaseMs);
  let known: () => State = () => EMPTY_STATE;
  const isOthers = (task: TaskId): boolean => wasElsewhere(known(), task, worker.id);
  const git = remoteWork(parts, holdings, isOthers, redact, tell);
  const key = await git.remote.projectKey();
  const database = await openDatabase(queue.url, {
    applicationName: `ralph worker ${worker.id}`,
    patienceMs: Infinity,
    maxConnections: 3,
    onTrouble: (message) => tell(message ?? "the database is back"),
  });
  const fleet = await openFleet({ database, project: key, worker, leaseMs: queue.leaseMs });
  const shared = openPostgresLog(database, key);
  const log = redactingLog(fencedLog(shared, holdings, worker.id), redact);
  const clock = new SharedClock(systemClock);
  const running = new Map<number, Progress>();
  const keepAwake = keepAwakeOf(project);
  prepareRalphFolder(project.ralphDir);
  let sweep: Ports["agents"]["sweep"] = () => Promise.resolve(0);
  return {
    log,
    fleet,
    holdings,
    clock,
    progress: () => [...running.values()].map(progressRow),
    portsFor(state: () => State): Ports {
      const ports = portsOf(parts, { log, clock, parallel: git.parallel, redact }, state, {
        onProgress: (progress) => {
          running.set(progress.iteration, progress);
          parts.onProgress(progress);
        },
        onAgentStart: () => parts.keepAwake && keepAwake.hold(),
      });
      sweep = (marker) => ports.agents.sweep(marker);
      known = state;
      git.clear(mergedIn(state()));
      return ports;
    },
    /** Clears away what this clone has of tasks that are merged, by whomever. */
    tidier: {
      follow: (event) => {
        if (event.type === "iteration.ended") running.delete(event.iteration);
        if (event.type === "worktree.removed") git.clear([event.task]);
        return Promise.resolve();
      },
    } satisfies Follower,
    /** Ends what an earlier process has left running: its task may be in other hands, who cannot reach it. */
    async endLeftovers() {
      await sweepWith(`${WORKER_VARIABLE}=${worker.id}`);
      await git.parallel.worktrees.clearLeftovers();
      await removeAbandonedOldChecks(dirname(project.stateFolder));
    },
    /** Without waiting for anything else. */
    async endAgents() {
      const own = known().iterations.filter((open) => open.worker === worker.id);
      await Promise.all(own.flatMap(markersOf).map(sweep));
    },
    async close() {
      keepAwake.release();
      await database.close();
    },
  };
}

interface SharedParts extends Pick<Ports, "log" | "clock"> {
  readonly parallel: ParallelWork;
  readonly redact: (text: string) => string;
}

/** What the engine needs; tasks and gates are those that were submitted, agents this machine's own. */
function portsOf(
  parts: WorkerParts,
  { log, clock, parallel, redact }: SharedParts,
  state: () => State,
  heard: Pick<RunParts, "onProgress" | "onAgentStart">,
): Ports {
  const { project, worker, commands } = parts;
  const source = submittedSource(
    () => {
      const { run, plan } = state();
      return run === null || plan === null ? null : { identity: run.settings.source, plan };
    },
    (identity) =>
      sourceNamed(identity, project, { usual: parts.github, env: withoutOwnSecrets(project.env) }),
  );
  const { version } = worker;
  return {
    ...composePorts({
      ...parts,
      project: { ...project, env: { ...project.env, [WORKER_VARIABLE]: worker.id } },
      ...heard,
      log,
      source,
      followers: [],
      version,
      now: () => clock.now(),
    }),
    worker: worker.id,
    clock,
    commands: {
      agents: commands.agents,
      get gates() {
        return gatesOfRun(state().run, commands.gates, redact);
      },
    },
    parallel,
  };
}

/** Whoever was away when they were merged has not heard of it. */
function mergedIn({ tasks }: State): readonly TaskId[] {
  const isOver = ({ merge, worktree }: TaskState): boolean => merge?.is === "merged" && worktree === null;
  return Object.values(tasks)
    .filter(isOver)
    .map(({ id }) => id);
}

/** Worktrees, branches and merges of this clone, each brought to the remote while its lease lasts. */
function remoteWork(
  parts: WorkerParts,
  holdings: Holdings,
  isOthers: (task: TaskId) => boolean,
  redact: (text: string) => string,
  tell: (what: string) => void,
) {
  const { project } = parts;
  const { root, env } = project;
  const remote = createRemote({
    root,
    env: withoutOwnSecrets(env),
    onTrouble: ({ remote, why }) => tell(`${remote}: ${why}`),
    isHeld: (name) => name !== null && holdings.has(name),
  });
  const fence = createFence({ remote, numberOf: (name) => holdings.get(name)?.number ?? null });
  const workspaceIn = workspacesBeside(workspaceOf(project));
  const parallel = parallelWorkOf(project, { ...parts.worktree, redact, isShared: true }, workspaceIn);
  const { worktrees } = parallel;
  const shared = new SharedWorktrees({ worktrees, remote, fence, branchOf, wasElsewhere: isOthers });
  const scratch = join(project.stateFolder, "scratch");
  return {
    remote,
    parallel: {
      ...parallel,
      // The base has its work: what an agent left half-done here must not keep its branch on the remote.
      worktrees: { ...shared.worktrees, remove: (task: TaskId) => shared.remove(task) },
      merging: createSharedMerging({ root, scratch, remote, fence }),
      workspaceAt: (place: string) => shared.pushing(workspaceIn(place)),
    },
    /** Clears away what this clone has of tasks that are merged; nobody waits for it. */
    clear(tasks: readonly TaskId[]): void {
      const clearing = inTurn(`tidy ${root}`, async () => {
        const here = new Set((await worktrees.list()).map(({ task }) => task));
        await shared.clearMerged(tasks.filter((task) => here.has(task)));
      });
      clearing.catch((error: unknown) => tell(error instanceof Error ? error.message : String(error)));
    },
  };
}

/** The same on all machines, whatever their disks are like. */
function branchOf(task: string): string {
  return worktreeName(task, { foldsCase: false }).branch;
}
