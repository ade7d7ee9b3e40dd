import { dirname, join } from "node:path";
import { clearMerged, createSharedWorktrees, removeWorktree } from "./adapters/exchange/shared-worktrees.ts";
import { createExchange, type Exchange } from "./adapters/exchange/exchange.ts";
import { createFence } from "./adapters/exchange/fence.ts";
import { createTaskBranches, pushingWorkspace } from "./adapters/exchange/task-branches.ts";
import { createSharedMerging, onRemote } from "./adapters/exchange/shared-merging.ts";
import { toWire } from "./adapters/files/progress-file.ts";
import { createMerging } from "./adapters/merging/git-merging.ts";
import { openDatabase } from "./adapters/postgres/database.ts";
import { openFleet } from "./adapters/postgres/fleet.ts";
import { openPostgresLog } from "./adapters/postgres/postgres-log.ts";
import type { WorkerIdentity } from "./adapters/postgres/leases.ts";
import { redactingLog } from "./adapters/store/redacting-log.ts";
import { inTurn } from "./adapters/system/in-turn.ts";
import { sweepWith } from "./adapters/system/process-sweep.ts";
import { systemClock } from "./adapters/system/system-clock.ts";
import type { GithubPlace } from "./adapters/tasks/github/gh.ts";
import { sourceNamed } from "./adapters/tasks/open-source.ts";
import { loadTaskListFormat } from "./adapters/tasks/task-list/task-list-format.ts";
import { submittedSource } from "./adapters/tasks/redacting-source.ts";
import { removeAbandonedOldChecks } from "./adapters/workspace/old-checks.ts";
import { worktreeName } from "./adapters/worktrees/registry.ts";
import { besideOf, workspacesBeside } from "./compose-beside.ts";
import {
  composePorts,
  keepAwakeOf,
  prepareFolder,
  workspaceOf,
  type Project,
  type Queue,
  type RunParts,
} from "./compose.ts";
import type { Plugins } from "./compose-plugins.ts";
import { OWN_ROOT } from "./compose-project.ts";
import { secretsOf } from "./compose-store.ts";
import { gatesOfRun } from "./core/loop/gates-of-run.ts";
import { wasElsewhere } from "./core/loop/evolve-run.ts";
import { EMPTY_STATE, markersOf, type State, type TaskState } from "./core/loop/state.ts";
import type { Plan, SourceIdentity, TaskId } from "./core/plan/task.ts";
import { createRedactor, withoutOwnSecrets } from "./core/redact.ts";
import type { Commands } from "./core/settings.ts";
import type { Fleet } from "./engine/fleet-ports.ts";
import type { Beside } from "./engine/parallel-ports.ts";
import type { Follower, Log, Ports, Progress } from "./engine/ports.ts";
import { fencedLog, Holdings } from "./engine/worker/holdings.ts";
import { SharedClock } from "./engine/worker/run-worker.ts";

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
  readonly env: NodeJS.ProcessEnv;
  readonly keepAwake: boolean;
  readonly onProgress: (progress: Progress) => void;
  readonly onTrouble: (what: string) => void;
}

/** By which whatever a worker has started is known, also to the next process of it. */
const WORKER_VARIABLE = "RALPH_WORKER";

/** Everything that a worker works with; the real outside is behind it. */
export interface Crew {
  readonly log: Log;
  readonly fleet: Fleet;
  readonly holdings: Holdings;
  readonly clock: SharedClock;
  readonly portsFor: (state: () => State) => Ports;
  readonly progress: () => readonly unknown[];
  /** Clears away what this clone has of tasks that are merged, by whomever. */
  readonly tidier: Follower;
  /** Ends what an earlier process has left running: its task may be in other hands, who cannot reach it. */
  readonly endLeftovers: () => Promise<unknown>;
  /** Without waiting for anything else. */
  endAgents(): Promise<void>;
  close(): Promise<void>;
}

export async function composeWorker(parts: WorkerParts): Promise<Crew> {
  const { project, queue, worker, commands, env, onTrouble } = parts;
  const redact = createRedactor(secretsOf(project, env, commands));
  const tell = (what: string): void => onTrouble(redact(what));
  const holdings = new Holdings(queue.leaseMs);
  let known: () => State = () => EMPTY_STATE;
  const isOthers = (task: TaskId): boolean => wasElsewhere(known(), task, worker.id);
  const git = exchangedWork(parts, holdings, isOthers, redact, tell);
  // A submitted list may be of any kind.
  await loadTaskListFormat();
  const key = await git.exchange.projectKey();
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
  const keepAwake = keepAwakeOf(parts);
  const clear = (tasks: readonly TaskId[]): void =>
    void git
      .clear(tasks)
      .catch((error: unknown) => tell(error instanceof Error ? error.message : String(error)));
  prepareFolder(project);
  let sweep: Ports["agents"]["sweep"] = () => Promise.resolve(0);
  return {
    log,
    fleet,
    holdings,
    clock,
    progress: () => [...running.values()].map(toWire),
    portsFor(state) {
      const ports = portsOf(parts, { log, clock, beside: git.beside, redact }, state, {
        onProgress: (progress) => {
          running.set(progress.iteration, progress);
          parts.onProgress(progress);
        },
        onAgentStart: () => parts.keepAwake && keepAwake.hold(),
      });
      sweep = (marker) => ports.agents.sweep(marker);
      known = state;
      clear(mergedIn(state()));
      return ports;
    },
    tidier: {
      follow: (event) => {
        if (event.type === "iteration.ended") running.delete(event.iteration);
        if (event.type === "worktree.removed") clear([event.task]);
        return Promise.resolve();
      },
    },
    async endLeftovers() {
      await sweepWith(`${WORKER_VARIABLE}=${worker.id}`);
      await git.beside.worktrees.clearLeftovers();
      removeAbandonedOldChecks(dirname(project.stateFolder));
    },
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
  readonly beside: Beside;
  readonly redact: (text: string) => string;
}

/** What the engine needs; tasks and gates are those that were submitted, agents this machine's own. */
function portsOf(
  parts: WorkerParts,
  { log, clock, beside, redact }: SharedParts,
  state: () => State,
  heard: Pick<RunParts, "onProgress" | "onAgentStart">,
): Ports {
  const { project, worker, commands } = parts;
  const source = submittedSource(
    () => submittedIn(state()),
    (identity) => sourceNamed(identity, project, { usual: parts.github, env: withoutOwnSecrets(parts.env) }),
  );
  const { version } = worker;
  return {
    ...composePorts({
      ...parts,
      env: { ...parts.env, [WORKER_VARIABLE]: worker.id },
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
    beside,
  };
}

/** Whoever was away when they were merged has not heard of it. */
function mergedIn({ tasks }: State): readonly TaskId[] {
  const isOver = ({ merge, worktree }: TaskState): boolean => merge?.is === "merged" && worktree === null;
  return Object.values(tasks)
    .filter(isOver)
    .map(({ id }) => id);
}

function submittedIn({
  run,
  plan,
}: State): { readonly identity: SourceIdentity; readonly plan: Plan } | null {
  return run === null || plan === null ? null : { identity: run.settings.source, plan };
}

interface ExchangedWork {
  readonly exchange: Exchange;
  readonly beside: Beside;
  /** Clears away what this clone has of tasks that are merged. */
  clear(tasks: readonly TaskId[]): Promise<void>;
}

/** Worktrees, branches and merges of this clone, each brought to the remote while its lease lasts. */
function exchangedWork(
  parts: WorkerParts,
  holdings: Holdings,
  isOthers: (task: TaskId) => boolean,
  redact: (text: string) => string,
  tell: (what: string) => void,
): ExchangedWork {
  const { project, env } = parts;
  const { root } = project;
  const exchange = createExchange({
    root,
    env: withoutOwnSecrets(env),
    onTrouble: ({ remote, why }) => tell(`${remote}: ${why}`),
    isHeld: (name) => name !== null && holdings.has(name),
  });
  const fence = createFence({ exchange, numberOf: (name) => holdings.get(name)?.number ?? null });
  const branches = createTaskBranches({ exchange, fence, branchOf });
  const workspaceIn = workspacesBeside(workspaceOf(project));
  const own = { ...parts, ...parts.worktree, redact, ownRoot: OWN_ROOT, isShared: true };
  const beside = besideOf(own, workspaceIn);
  const { worktrees } = beside;
  const scratch = join(project.stateFolder, "scratch");
  const merging = createMerging({ root, scratch, where: onRemote(exchange) });
  return {
    exchange,
    beside: {
      ...beside,
      worktrees: {
        ...createSharedWorktrees({ worktrees, exchange, branches, wasElsewhere: isOthers }),
        // The base has its work: what an agent left half-done here must not keep its branch on the remote.
        remove: async (task) => removeWorktree(worktrees, await exchange.clone(), task),
      },
      merging: createSharedMerging({ merging, exchange, fence }),
      workspaceAt: (place) => pushingWorkspace(workspaceIn(place), branches),
    },
    clear: (tasks) =>
      inTurn(`tidy ${root}`, async () => {
        const here = new Set((await worktrees.list()).map(({ task }) => task));
        await clearMerged(
          { worktrees, exchange, branches },
          tasks.filter((task) => here.has(task)),
        );
      }),
  };
}

/** The same on all machines, whatever their disks are like. */
function branchOf(task: string): string {
  return worktreeName(task, { foldsCase: false }).branch;
}
