import { hostname } from "node:os";
import {
  builtInAgents,
  findProgram,
  lockProject,
  ownWorkerId,
  type Project,
  usualPlace,
  type Queue,
} from "../../compose.ts";
import { THIS_PLATFORM } from "../../compose-platform.ts";
import { pluginsOf, type Plugins } from "../../compose-plugins.ts";
import { requireSandbox } from "../../compose-sandbox.ts";
import { composeWorker } from "../../compose-worker.ts";
import { resolveSettings } from "../../config/resolve-settings.ts";
import type { Config } from "../../config/schema.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { AgentSettings, Commands } from "../../core/settings.ts";
import { runWorker } from "../../engine/worker/run-worker.ts";
import type { CliContext } from "../commands.ts";
import { printerFor } from "../print/printer-for.ts";
import { programOf } from "../project-state.ts";
import { warnTo } from "../warn-to.ts";
import { openOutlets } from "../outlets.ts";
import { HealthLine } from "./health-line.ts";
import { onLeaving } from "./leaving.ts";
import { ownFacts } from "./own-facts.ts";

export interface WorkerOptions {
  readonly project: Project;
  readonly queue: Queue;
  readonly config: Config;
  readonly context: CliContext;
  readonly lanes: number;
  readonly labels: readonly string[];
  readonly drains: boolean;
  readonly merges: boolean;
  readonly keepAwake: boolean;
  /** The kind; true: `--sandbox` alone, false: `--no-sandbox`. */
  readonly sandbox?: string | boolean;
  readonly asJson: boolean;
  readonly isQuiet: boolean;
}

/** One worker from the lock of its clone to the exit code. */
export async function driveWorker(options: WorkerOptions): Promise<number> {
  const { project, queue, config, context, lanes, drains, merges } = options;
  const plugins = await pluginsOf(project, { config, env: context.env, warn: warnTo(context, project) });
  const commands = commandsHere(options, plugins);
  const labels = labelsOf(commands.agents, options.labels);
  await requireSandbox(project, commands.sandbox, commands.agents, context.env);
  const lock = lockProject(project);
  const printer = printerFor({ json: options.asJson, quiet: options.isQuiet }, context);
  const say = (text: string): void => void context.stderr.write(`ralph: ${text}\n`);
  const health = new HealthLine(say, options.isQuiet);
  const id = ownWorkerId(project);
  const worker = { id, host: hostname(), pid: process.pid, version: context.version, labels };
  const leaving = onLeaving(say);
  try {
    const crew = await composeWorker({
      project,
      queue,
      worker,
      commands,
      plugins,
      worktree: config.worktree,
      github: usualPlace(config),
      env: context.env,
      keepAwake: options.keepAwake,
      onProgress: (progress) => printer.progress(progress),
      onTrouble: (what) => health.trouble(what),
    });
    leaving.atOnce(() => crew.endAgents());
    const outlets = await openOutlets({
      project,
      log: crew.log,
      commands,
      context,
      plugins,
      keepDays: config.logs.keep_days,
      worker: id,
      say,
    });
    try {
      health.began(id, lanes, labels);
      const how = await runWorker(
        {
          ...crew,
          id,
          lanes,
          labels,
          merges,
          drains,
          leaseMs: queue.leaseMs,
          followers: [ownFacts(printer, id, crew.holdings), crew.tidier, ...outlets.followers],
          onOpened: (state) => outlets.start(state),
          onTrouble: (what) => health.trouble(what),
          onHealth: (now) => health.show(now),
        },
        leaving.signal,
      );
      return how === "drained" ? 0 : EXIT_CODES.stopped;
    } catch (error) {
      outlets.failed(error);
      throw error;
    } finally {
      await outlets.finish();
      await crew.close();
    }
  } finally {
    leaving.release();
    printer.rest();
    lock.release();
  }
}

/** What this machine's configuration says, with those agents whose program it has. */
function commandsHere({ config, project, context, sandbox }: WorkerOptions, plugins: Plugins): Commands {
  const nothing = { kind: "goal", label: "", path: null } as const;
  const flags = sandbox === undefined ? {} : { sandbox };
  const { commands } = resolveSettings(
    config,
    flags,
    nothing,
    [...builtInAgents(), ...plugins.agents],
    plugins,
  );
  const isHere = (agent: AgentSettings): boolean =>
    findProgram(programOf(agent), project.root, context.env) !== null;
  // The image of a container has its own programs, which nobody can look for from here.
  const agents = commands.sandbox?.kind === "docker" ? commands.agents : commands.agents.filter(isHere);
  if (agents.length > 0) return { ...commands, agents };
  throw new RalphError("no-agent", "this machine has none of the agents that are configured", {
    hint: "install one, or see what is there: ralph doctor",
  });
}

function labelsOf(agents: readonly AgentSettings[], own: readonly string[]): readonly string[] {
  const names = agents.map(({ name }) => `agent:${name}`);
  return [...new Set([`os:${THIS_PLATFORM}`, `host:${hostname()}`, ...names, ...own])];
}
