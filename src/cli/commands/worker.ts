import { builtInAgents, type Plugins, pluginsOf } from "../../app/plugins.ts";
import { programOf, requireGates } from "../../app/prepare-run.ts";
import {
  type Project,
  hearSignals,
  openProject,
  ownWorkerId,
  readConfig,
  requirePerson,
  requireQueue,
  usualPlace,
} from "../../app/project.ts";
import { requireSandbox, warnOfDaemons, followRun } from "../../app/run-ports.ts";
import { hostname } from "node:os";
import type { Command } from "commander";
import { checkoutOfBare } from "../../adapters/git/find-repository.ts";
import { findProgram } from "../../adapters/process/process-table.ts";
import { acquireProjectLock } from "../../adapters/store/project-lock.ts";
import { composeWorker } from "../../app/worker-ports.ts";
import { resolveSettings } from "../../config/resolve-settings.ts";
import { type Config, LANES_MAX } from "../../config/schema.ts";
import type { Recorded } from "../../core/events.ts";
import { restOf } from "../../core/loop/decide.ts";
import { MERGER } from "../../core/loop/effects.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { isOpen, taskState, type State } from "../../core/state.ts";
import { nextRetryAt, readyTasks, statusOf, tasksInScope, waitReason } from "../../core/loop/task-status.ts";
import { RalphError } from "../../core/errors.ts";
import type { AgentSettings, Commands } from "../../core/settings.ts";
import { isoTime, type Instant } from "../../core/time.ts";
import type { Follower } from "../../engine/ports.ts";
import type { Holdings } from "../../engine/worker/holdings.ts";
import { runWorker, type Health } from "../../engine/worker/run-worker.ts";
import type { Act, CliContext } from "../commands.ts";
import { printerFor } from "../print/run-printer.ts";
import { collect, wholeNumber, withSandboxOptions } from "../run-options.ts";

interface Flags {
  readonly lanes: number;
  readonly labels?: readonly string[];
  readonly drain?: boolean;
  /** False: `--no-merge`. */
  readonly merge: boolean;
  /** False: `--no-keep-awake`. */
  readonly keepAwake: boolean;
  readonly sandbox?: string | boolean;
  readonly quiet?: boolean;
}

export function define(command: Command, act: Act): void {
  withSandboxOptions(command)
    .option("--lanes <n>", "so many tasks at a time", wholeNumber("--lanes", 1, LANES_MAX), 1)
    .option(
      "--labels <list>",
      "what this machine has besides, for tasks that need it: gpu,xcode (repeatable)",
      collect,
    )
    .option("--drain", "leave when there is nothing left to do, instead of waiting for more")
    .option("--no-merge", "leave it to others to bring accepted work to the base")
    .option("--no-keep-awake", "let the machine fall asleep while an agent works")
    .option("--json", "events as JSON lines on stdout")
    .option("--quiet", "only what goes wrong")
    .action(act(driveWorker));
}

function labelsIn(list: string): readonly string[] {
  const labels = list
    .split(",")
    .map((label) => label.trim())
    .filter((label) => label !== "");
  const odd = labels.find((label) => !/^[\w.:+/-]{1,60}$/.test(label));
  if (odd === undefined) return labels;
  throw new RalphError("usage", `--labels has "${odd}"; expected words such as gpu or os:linux, with commas`);
}

/** One worker from the lock of its clone to the exit code. */
async function driveWorker(context: CliContext, flags: Flags): Promise<number> {
  const { version, verbose, say } = context;
  const { lanes, merge: merges, drain: drains = false, quiet: isQuiet = false } = flags;
  const project = await openProject({ ...context, cwd: await checkoutOfBare(context.cwd) });
  const queue = requireQueue(project, "worker");
  requirePerson(project, "work for others");
  const ownLabels = (flags.labels ?? []).flatMap(labelsIn);
  const config = await readConfig(project);
  const plugins = await pluginsOf(project, config);
  const commands = await commandsHere(project, config, flags.sandbox, plugins);
  const agents = commands.agents.map(({ name }) => `agent:${name}`);
  const labels = [...new Set([`os:${process.platform}`, `host:${hostname()}`, ...agents, ...ownLabels])];
  const lock = acquireProjectLock(project.stateFolder);
  const printer = printerFor(context, isQuiet);
  const tell = isQuiet ? () => {} : say;
  const id = ownWorkerId(project);
  let endAgents: () => Promise<void> = () => Promise.resolve();
  // Once: agents are asked to stop, what they did is recorded and pushed. Twice: at once; others go on when the lease is over.
  const leaving = hearSignals(
    () => say("leaving; what the agents did will be recorded, and others go on with it (again: at once)"),
    () => void endAgents().finally(() => process.exit(EXIT_CODES.stopped)),
  );
  const { worktree } = config;
  try {
    const crew = await composeWorker({
      project,
      queue,
      worker: { id, host: hostname(), pid: process.pid, version, labels },
      commands,
      plugins,
      worktree,
      github: usualPlace(config),
      keepAwake: flags.keepAwake,
      onProgress: (progress) => printer.progress(progress),
      onTrouble: say,
    });
    endAgents = () => crew.endAgents();
    const keepDays = config.logs.keep_days;
    const told = { project, log: crew.log, commands, plugins, keepDays, version, verbose, worker: id, say };
    const work = followRun(told, (others) => {
      const many = lanes === 1 ? "1 lane" : `${lanes} lanes`;
      tell(`worker ${id} is here, with ${many}: ${labels.join(", ")}`);
      const followers = [ownFacts(printer, id, crew.holdings), crew.tidier, ...others.followers];
      const about = { id, lanes, labels, merges, drains, leaseMs: queue.leaseMs };
      const heard = { onOpened: others.start, onTrouble: say, onHealth: healthLines(tell) };
      return runWorker({ ...crew, ...about, ...heard, followers }, leaving.signal);
    });
    try {
      return (await work) === "drained" ? 0 : EXIT_CODES.stopped;
    } finally {
      await crew.close();
    }
  } finally {
    leaving.release();
    printer.rest();
    lock.release();
  }
}

/** What this machine's configuration says, with those agents whose program it has. */
async function commandsHere(
  project: Project,
  config: Config,
  sandbox: Flags["sandbox"],
  plugins: Plugins,
): Promise<Commands> {
  const { commands } = resolveSettings(
    config,
    sandbox === undefined ? {} : { sandbox },
    { kind: "goal", label: "", path: null },
    [...builtInAgents(), ...plugins.agents],
    plugins,
  );
  const isHere = (agent: AgentSettings): boolean =>
    findProgram(programOf(agent), project.root, project.env) !== null;
  // The image of a container has its own programs, which cannot be looked for from here.
  const agents = commands.sandbox?.kind === "docker" ? commands.agents : commands.agents.filter(isHere);
  if (agents.length === 0)
    throw new RalphError("no-agent", "this machine has none of the agents that are configured", {
      hint: "install one, or see what is there: ralph doctor",
    });
  await requireSandbox(project, commands.sandbox, agents, config.git.hooks);
  warnOfDaemons(project);
  await requireGates(commands.gates, { project });
  return { ...commands, agents };
}

/** So often at most the same kind of line is said again. */
const AGAIN_MS = 60_000;

/** One line now and then that tells whoever looks whether the worker is well, and why it does nothing. */
function healthLines(say: (text: string) => void): (health: Health) => void {
  let last = "";
  let saidAt = -Infinity;
  return ({ state, now, busyLanes }) => {
    const line = sentenceOf(state, now, busyLanes);
    const isDue = performance.now() - saidAt >= AGAIN_MS;
    if (line === last || (busyLanes > 0 && !isDue)) return;
    last = line;
    saidAt = performance.now();
    say(line);
  };
}

function sentenceOf(state: State, now: Instant, busyLanes: number): string {
  const { run, plan } = state;
  if (!isOpen(run) || plan === null) return "waiting for tasks: ralph submit";
  const rest = restOf(state, now);
  if (rest !== null) return `nobody can go on: ${rest.reason}`;
  const statuses = tasksInScope(run, plan).map((task) => statusOf(state, task));
  const count = (wanted: string): number => statuses.filter((status) => status === wanted).length;
  const retryAt = nextRetryAt(state, run, plan, now);
  const isLimited = retryAt !== null && readyTasks(state, run, plan, now).length === 0;
  const idle = isLimited
    ? `waiting until ${isoTime(retryAt)}: ${waitReason(state, retryAt)}`
    : "waiting for a task";
  const busy = busyLanes === 0 ? idle : busyLanes === 1 ? "1 lane busy" : `${busyLanes} lanes busy`;
  return `${busy} · ${count("done")} of ${statuses.length} done, ${count("doing")} under way, ${count("todo")} to do`;
}

/** A worker shows what happens to the tasks that it holds or merges, and to the run; the rest is on the others' screens. */
function ownFacts(printer: Follower, worker: string, holdings: Holdings): Follower {
  const isOwn = (event: Recorded, state: State): boolean => {
    if (!("task" in event) || event.task === null) return true;
    const isMerge = event.type.startsWith("merge.") || event.type === "task.merged";
    if (holdings.has(event.task) || (isMerge && holdings.has(MERGER))) return true;
    return taskState(state, event.task).holder?.worker === worker;
  };
  return {
    follow: (event, state) => (isOwn(event, state) ? printer.follow(event, state) : Promise.resolve()),
  };
}
