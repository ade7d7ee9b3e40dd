import type { Command } from "commander";
import { gatesOf, hasLog, openProject, verifyWork, workspaceOf, type Project } from "../../compose.ts";
import type { EventOf } from "../../core/events.ts";
import { few } from "../../core/few.ts";
import type { State } from "../../core/loop/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { count } from "../../core/projections/explain-words.ts";
import {
  ACCEPTANCE_EVENTS,
  type Check,
  checkGates,
  checkWork,
  type Completion,
  isVerified,
  lastAcceptance,
  verificationJson,
  workOf,
} from "../../core/projections/verification.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { GateResult } from "../../core/report/gate-result.ts";
import type { GateSettings } from "../../core/settings.ts";
import { NO_PLUGINS, type Plugins } from "../../compose-plugins.ts";
import { checkNow, INTERRUPTED } from "../check-now.ts";
import type { Act, CliContext } from "../commands.ts";
import { certificateLines, checkLines, resultLine } from "../print/certificate-lines.ts";
import { styleFor, type Style } from "../print/style.ts";
import { projectGates } from "../project-gates.ts";
import { readState, withLog } from "../project-state.ts";
import { unknownTask } from "../unknown-task.ts";

interface Flags {
  /** False: `--no-gates`. */
  readonly gates: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[task]", "the id of an accepted task")
    .option("--no-gates", "do not run the gates again")
    .option("--json", "print JSON")
    .action((task: string | undefined, flags: Flags) =>
      act(async (context) => verify(task ?? (await mustBeNamed(context)), flags, context)),
    );
}

async function mustBeNamed(context: CliContext): Promise<never> {
  const state = await readState(await openProject(context));
  const done = Object.values(state.tasks).filter(({ completion }) => completion !== null);
  const ids = done.map(({ id }) => id);
  throw new RalphError("usage", "which task? Name an accepted one", {
    hint: ids.length === 0 ? "no task is accepted yet: ralph status" : `accepted: ${few(ids, 10)}`,
  });
}

/** Looks and runs gates; writes and records nothing. */
async function verify(id: string, flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const { completion, settings } = await acceptance(project, id, state);
  const print = printerOf(flags.json === true, context);
  print((style) => [...certificateLines(completion, style), ""]);
  const { path } = settings?.source ?? { path: null };
  const uncommitted = await workspaceOf(project).dirtyPaths(path === null ? [] : [path]);
  const aboutWork = checkWork(completion, await verifyWork(project, workOf(completion)));
  for (const check of aboutWork) print((style) => checkLines(check, style));
  const asked = flags.gates ? await gatesAgain(project, settings?.gates ?? [], context) : NO_GATES;
  const { redact } = await gatesOf(project, context.env, asked.runnable);
  const aboutGates: Check[] = [...asked.lost];
  for (const check of asked.lost) print((style) => checkLines(check, style));
  const results = await checkNow(
    project,
    { gates: asked.runnable, plugins: asked.plugins },
    context,
    (result) => {
      const found = checkGates(completion, asked.runnable, [result]);
      aboutGates.push(...found);
      for (const check of found) print((style) => checkLines(check, style).map(redact));
    },
  );
  if (results === null) return INTERRUPTED;
  const checks = [...aboutWork, ...aboutGates];
  print((style) => [...notes(uncommitted, id, state), resultLine(id, checks, style)]);
  if (flags.json === true) printJson(completion, checks, { uncommitted, gates: results }, context);
  return isVerified(checks) ? 0 : 1;
}

type Print = (lines: (style: Style) => readonly string[]) => void;

function printerOf(asJson: boolean, { stdout, env }: CliContext): Print {
  const style = styleFor(stdout, env);
  return (lines) => {
    if (!asJson) for (const line of lines(style)) stdout.write(`${line}\n`);
  };
}

function printJson(
  completion: Completion,
  checks: readonly Check[],
  found: { readonly uncommitted: readonly string[]; readonly gates: readonly GateResult[] },
  { stdout }: CliContext,
): void {
  stdout.write(`${JSON.stringify(verificationJson(completion, checks, found), null, 2)}\n`);
}

type RunSettings = EventOf<"run.started">["settings"];

/** The last time the task was accepted, and what the run had been told by then. */
async function acceptance(
  project: Project,
  id: string,
  state: State,
): Promise<{ readonly completion: Completion; readonly settings: RunSettings | null }> {
  if (!hasLog(project)) throw await unknownTask(id, state, project);
  return withLog(project, async (log) => {
    const completion = lastAcceptance(await log.read(0, { task: id, types: ACCEPTANCE_EVENTS }));
    if (completion === null) throw await neverAccepted(id, state, project);
    const runs = await log.read(0, { types: ["run.started", "run.resumed"] });
    const run = runs.findLast(
      (event) => "settings" in event && event.run === completion.run && event.position < completion.position,
    );
    return { completion, settings: run !== undefined && "settings" in run ? run.settings : null };
  });
}

async function neverAccepted(id: string, state: State, project: Project): Promise<RalphError> {
  const task = state.plan?.tasks.find((one) => one.id === id);
  if (task === undefined && state.tasks[id] === undefined) return unknownTask(id, state, project);
  const status = task === undefined ? "no longer in the task list" : statusOf(state, task);
  const how = status === "done" ? "done, marked by a person" : status;
  return new RalphError(
    "usage",
    `the task "${id}" was never accepted, so there is no certificate: it is ${how}`,
    {
      hint: `ralph why ${id}`,
    },
  );
}

interface GatesAgain {
  readonly runnable: readonly GateSettings[];
  /** Gates of the run that nobody can run any more. */
  readonly lost: readonly Check[];
  readonly plugins: Plugins;
}

const NO_GATES: GatesAgain = { runnable: [], lost: [], plugins: NO_PLUGINS };
const IS_REDACTED = /\[redacted\]/;

/** The gates of the run, with today's commands where there are some: what was recorded has no secrets. */
async function gatesAgain(
  project: Project,
  recorded: readonly GateSettings[],
  context: CliContext,
): Promise<GatesAgain> {
  const { gates: today, plugins } = await projectGates(project, [], context);
  const gates = recorded.map((gate) => today.find(({ name }) => name === gate.name) ?? gate);
  const isLost = (gate: GateSettings): boolean =>
    [gate.command, ...Object.values(gate.env)].some((text) => IS_REDACTED.test(text)) &&
    !today.includes(gate);
  return {
    plugins,
    runnable: gates.filter((gate) => !isLost(gate)),
    lost: gates.filter(isLost).map(({ name }) => ({
      check: `gate:${name}`,
      status: "failed",
      sentence: `gate "${name}" cannot be run again: its command was recorded without a secret, and it is not in the configuration`,
    })),
  };
}

function notes(uncommitted: readonly string[], id: string, state: State): readonly string[] {
  const task = state.plan?.tasks.find((one) => one.id === id);
  const isOpenAgain = task !== undefined && statusOf(state, task) !== "done";
  const files = count(uncommitted.length, "file");
  return [
    ...(uncommitted.length === 0
      ? []
      : [
          `Note: the work tree has uncommitted changes (${files}: ${few(uncommitted, 3)}); they were checked, too.`,
        ]),
    ...(isOpenAgain ? [`Note: ${id} has been opened again since it was accepted.`] : []),
  ];
}
