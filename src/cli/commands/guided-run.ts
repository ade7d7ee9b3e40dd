import { createInterface } from "node:readline/promises";
import { findProgram } from "../../adapters/process/process-table.ts";
import { act as actOn } from "../../app/operator.ts";
import { builtInAgents } from "../../app/plugins.ts";
import { prepareRun } from "../../app/prepare-run.ts";
import { openProject, type Project } from "../../app/project.ts";
import { readState, statusNow } from "../../app/project-log.ts";
import { findConfig } from "../../config/find-config.ts";
import { RalphError } from "../../core/errors.ts";
import { dollars } from "../../core/loop/brakes.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { MODE_TIMEOUT_MS } from "../../core/settings.ts";
import { asArgument } from "../../core/text.ts";
import { formatDuration } from "../../core/time.ts";
import type { CliContext } from "../commands.ts";
import { chosenOf, detectGates, tryGates } from "../init/templates.ts";
import { type Flags, run } from "./run.ts";
import { showDiff } from "./work.ts";

/** Enough for one goal; whoever wants more says so. */
const ITERATIONS = 10;

/**
 * `ralph "goal"`: finds the agent and the checks, says what will happen, asks once, works in a worktree, and shows the
 * result for a decision. Without a terminal it does not ask, and prints what to type instead.
 */
export async function guidedRun(context: CliContext, goal: string, asked: Flags): Promise<number> {
  const project = await openProject(context);
  const flags: Flags = {
    maxIterations: ITERATIONS,
    ...(await foundHere(project, asked, context)),
    ...asked,
    worktree: true,
    approve: true,
  };
  await tellPlan(goal, flags, project, context);
  if (!/^(?:y|yes|)$/i.test(await ask("\nStart? [Y/n] ", context, "y"))) {
    context.say("nothing was started");
    return 0;
  }
  return decideOn(goal, flags, project, await run(context, goal, flags), context);
}

/** The agent and the checks of a repository that has no configuration yet. */
async function foundHere(project: Project, asked: Flags, context: CliContext): Promise<Flags> {
  const { root, ralphDir } = project;
  if ((await findConfig(root, ralphDir)).length > 0) return {};
  const hasProgram = (name: string): boolean => findProgram(name, root, context.env) !== null;
  const agent =
    asked.agent ?? builtInAgents().find(({ name, command }) => command === null && hasProgram(name))?.name;
  if (agent === undefined)
    throw new RalphError("config", "no coding agent is installed here", {
      hint: "ralph doctor names them with the command that installs each; ralph demo needs none",
    });
  if (asked.check !== undefined) return { agent };
  const { found } = detectGates(root, hasProgram);
  const tried = await tryGates(found, project, context);
  return { agent, check: chosenOf(tried ?? []).map(({ command }) => command) };
}

async function tellPlan(goal: string, flags: Flags, project: Project, context: CliContext): Promise<void> {
  const { settings, commands } = await prepareRun(goal, flags, context);
  const { cost } = (await statusNow(project, Date.now())).status;
  const each = cost.per_accepted_task_usd;
  const { run: budget } = settings.limits.budget;
  const checks = commands.gates.map(({ command }) => command);
  const rows = [
    ["Goal", goal],
    ["Agent", settings.agent],
    [
      "Checks",
      checks.length === 0 ? "none: only git is checked, and you (add --check COMMAND)" : checks.join(", "),
    ],
    ["Place", "a worktree of its own; your branch stays as it is until you merge"],
    [
      "Limits",
      `${settings.limits.maxIterations} iterations, ${formatDuration(MODE_TIMEOUT_MS[settings.mode])} or more each; ` +
        (budget === null ? "no budget (--budget 5 sets one)" : `${dollars(budget)} at most`),
    ],
    [
      "Cost",
      each === null
        ? "not known before the first task is done here"
        : `about ${dollars(each)}, as earlier tasks`,
    ],
  ];
  for (const [name = "", text = ""] of rows) context.stdout.write(`${name.padEnd(8)} ${text}\n`);
}

/** The result waits for a decision; anything else has been said by the run. */
async function decideOn(
  goal: string,
  flags: Flags,
  project: Project,
  code: number,
  context: CliContext,
): Promise<number> {
  const state = await readState(project);
  const task = state.plan?.tasks[0];
  if (task === undefined || statusOf(state, task) !== "review") return code;
  const { id } = task;
  const name = asArgument(id);
  await showDiff(context, id, { stat: true });
  const choice = await ask(
    "\n[m]erge, [s]how the diff, [g]o on with changes, [d]iscard, or Enter to decide later: ",
    context,
    "",
  );
  switch (choice.trim().toLowerCase()[0]) {
    case "m":
      await actOn(project, { do: "approve", task: id });
      return run(context, goal, { ...flags, quiet: true });
    case "s":
      await showDiff(context, id, {});
      return decideOn(goal, flags, project, code, context);
    case "g": {
      const words = await ask("What is to be changed? ", context, "");
      const acted = await actOn(project, { do: "send-back", task: id, words });
      if (acted.is === "refused") context.say(acted.why);
      const next = acted.is === "done" ? await run(context, goal, flags) : code;
      return decideOn(goal, flags, project, next, context);
    }
    case "d":
      context.say(
        ((acted) => (acted.is === "done" ? acted.said.trimEnd() : acted.why))(
          await actOn(project, { do: "discard", task: id }),
        ),
      );
      return 0;
    default:
      context.stderr.write(
        `  → ralph diff ${name}, then: ralph approve ${name} && ralph run ${asArgument(goal)}\n  → or: ralph send-back ${name} "what to change", or: ralph discard ${name}\n`,
      );
      return code;
  }
}

/** The person's answer; `otherwise` where there is no terminal. */
async function ask(question: string, { stdout, stderr }: CliContext, otherwise: string): Promise<string> {
  if (!process.stdin.isTTY || !stdout.isTTY) return otherwise;
  const terminal = createInterface({ input: process.stdin, output: stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
