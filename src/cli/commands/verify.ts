import { checkNow, gateRedactor, projectGates, type ProjectGates } from "../../app/gates.ts";
import { hasLog, meantTask, readState, unknownTask, withLog } from "../../app/project-log.ts";
import { NO_PLUGINS } from "../../app/plugins.ts";
import { type Project, openProject } from "../../app/project.ts";
import { workspaceOf } from "../../app/git-parts.ts";
import { gateLines, tailLines } from "../print/gate-lines.ts";
import { type Style, asArgument, few } from "../../core/text.ts";
import { verifyWork } from "../../adapters/git/workspace/verify-work.ts";
import { certificateFacts } from "../../core/report/words.ts";
import type { Command } from "commander";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { tell, type Act, type CliContext } from "../commands.ts";
import { collect } from "../run-options.ts";
import { wrap } from "../print/style.ts";
import type { State } from "../../core/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { count, shortCommit } from "../../core/views/explain-words.ts";
import {
  ACCEPTANCE_EVENTS,
  checkGates,
  checkOldChecks,
  checkWork,
  isVerified,
  lastAcceptance,
  verificationJson,
  workOf,
  type Check,
  type Completion,
} from "../../core/views/verification.ts";
import { RalphError } from "../../core/errors.ts";
import {
  compareWithBaseline,
  outcomeOf,
  redGates,
  type GateResult,
} from "../../core/verdict/checked-gate.ts";
import type { GateSettings } from "../../core/settings.ts";
import { isoTime } from "../../core/time.ts";

interface VerifyFlags {
  /** False: `--no-gates`. */
  readonly gates: boolean;
  readonly all?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[task]", "the id of an accepted task")
    .option("--all", "every accepted task, one after the other")
    .option("--no-gates", "do not run the gates again")
    .option("--json", "print JSON; with --all an array")
    .action(act(verify));
}

/** Looks and runs gates; writes and records nothing. */
async function verify(context: CliContext, task: string | undefined, flags: VerifyFlags): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const accepted = Object.values(state.tasks).flatMap(({ id, completion }) => (completion ? [id] : []));
  const isAll = flags.all === true;
  if (isAll && task !== undefined)
    throw new RalphError("usage", "name a task or say --all, not both", {
      hint: `ralph verify ${asArgument(task)}`,
    });
  if (!isAll && task === undefined)
    throw new RalphError("usage", "which task? Name an accepted one, or say --all", {
      hint:
        accepted.length === 0 ? "no task is accepted yet: ralph status" : `accepted: ${few(accepted, 10)}`,
    });
  const verified: Verification[] = [];
  const results = new Map<string, GateResult>();
  for (const id of task === undefined ? accepted : [await meantTask(task, state, project)]) {
    if (verified.length > 0 && !context.json) context.print([""]);
    const found = await verifyTask(id, { project, state, results, flags, context });
    if (found === null) return EXIT_CODES.stopped;
    verified.push(found);
  }
  const all = verified.map(({ json }) => json);
  tell(context, isAll ? all : all[0], () => (isAll ? summary(verified) : []));
  return verified.every(({ isWell }) => isWell) ? 0 : 1;
}

function summary(all: readonly Verification[]): readonly string[] {
  if (all.length === 0) return ["No task is accepted yet. Where they stand: ralph status"];
  const bad = all.filter(({ isWell }) => !isWell).map(({ id }) => id);
  const well = `${all.length - bad.length} of ${count(all.length, "accepted task")} verified`;
  return ["", `${well}${bad.length === 0 ? "" : `; not verified: ${few(bad, 10)}`}.`];
}

type Verification = NonNullable<Awaited<ReturnType<typeof verifyTask>>>;

interface Verifying {
  readonly project: Project;
  readonly state: State;
  /** Of gates that ran already, by their settings. */
  readonly results: Map<string, GateResult>;
  readonly flags: VerifyFlags;
  readonly context: CliContext;
}

/** Null: Ctrl-C. */
async function verifyTask(id: string, verifying: Verifying) {
  const { project, state, flags, context } = verifying;
  const { completion, settings } = await acceptance(project, id, state);
  const { style, json } = context;
  const print = (lines: readonly string[]): void => (json ? undefined : context.print(lines));
  print([...certificateLines(completion, style), ""]);
  const uncommitted = await workspaceOf(project).dirtyPaths([settings?.source.path ?? []].flat());
  const { runnable, plugins, lost, redact } = flags.gates
    ? await gatesToday(project, settings?.gates ?? [])
    : NO_GATES;
  const today = await verifyWork(project, workOf(completion), runnable);
  const checks: Check[] = [];
  const found = (more: readonly Check[]): void => {
    checks.push(...more);
    print(more.flatMap((check) => checkLines(check, style).map(redact)));
  };
  found([...checkWork(completion, today), ...lost]);
  const results = await checkAgain(verifying, { gates: runnable, plugins }, (result) =>
    found(checkGates(completion, runnable, [result])),
  );
  if (results === null) return null;
  if (runnable.length > 0 && today.checkFiles.length > 0) {
    // With the check files as they were accepted. A plugin's gate looks at the work tree itself.
    const gates = runnable.filter(({ required, plugin }) => required && plugin === undefined);
    const old = await workspaceOf(project).withOldChecks(
      { base: completion.commit, paths: today.checkFiles, gates, since: Date.now() },
      (place) => checkNow(project, { gates, plugins }, undefined, place),
    );
    if (old === null) return null;
    found([checkOldChecks(completion, today, runnable, old)]);
  }
  const isWell = isVerified(checks);
  const failed = checks.filter(({ status }) => status === "failed").length;
  print([
    ...notes(uncommitted, id, state),
    isWell
      ? style.good(`${id} is verified.`)
      : style.bad(`${id} is not verified: ${count(failed, "check")} failed.`),
  ]);
  return { id, isWell, json: verificationJson(completion, checks, { uncommitted, gates: results }) };
}

/** The last time the task was accepted, and what the run had been told by then. */
async function acceptance(project: Project, id: string, state: State) {
  if (!hasLog(project)) throw unknownTask(id, []);
  return withLog(project, async (log) => {
    const completion = lastAcceptance(await log.read(0, { task: id, types: ACCEPTANCE_EVENTS }));
    if (completion === null) throw neverAccepted(id, state);
    const told = (await log.read(0, { types: ["run.started", "run.resumed"] })).flatMap((event) =>
      "settings" in event && event.run === completion.run && event.position < completion.position
        ? [event.settings]
        : [],
    );
    return { completion, settings: told.at(-1) };
  });
}

function neverAccepted(id: string, state: State): RalphError {
  const task = state.plan?.tasks.find((one) => one.id === id);
  if (task === undefined && state.tasks[id] === undefined) return unknownTask(id, Object.keys(state.tasks));
  const status = task === undefined ? "no longer in the task list" : statusOf(state, task);
  const how = status === "done" ? "done, marked by a person" : status;
  const never = `the task "${id}" was never accepted, so there is no certificate: it is ${how}`;
  return new RalphError("usage", never, { hint: `ralph why ${asArgument(id)}` });
}

const NO_GATES = { runnable: [], lost: [], plugins: NO_PLUGINS, redact: (text: string) => text };
const IS_REDACTED = /\[redacted\]/;

/** The gates of a run, with today's commands where there are some: what was recorded has no secrets. */
async function gatesToday(project: Project, recorded: readonly GateSettings[]) {
  const { gates: today, plugins } = await projectGates(project, []);
  const gates = recorded.map((gate) => today.find(({ name }) => name === gate.name) ?? gate);
  const isLost = (gate: GateSettings): boolean =>
    [gate.command, ...Object.values(gate.env)].some((text) => IS_REDACTED.test(text)) &&
    !today.includes(gate);
  const runnable = gates.filter((gate) => !isLost(gate));
  const redact = await gateRedactor(project, runnable);
  const lost = gates.filter(isLost).map(({ name }): Check => ({
    check: `gate:${name}`,
    status: "failed",
    sentence: `gate "${name}" cannot be run again: its command was recorded without a secret, and it is not in the configuration`,
  }));
  return { plugins, runnable, lost, redact };
}

/** Runs gates again, unless they ran for another task on the same tree. */
async function checkAgain(
  { project, results }: Verifying,
  { gates, plugins }: ProjectGates,
  onResult: (result: GateResult) => void,
): Promise<readonly GateResult[] | null> {
  const knownOf = (gate: GateSettings) => results.get(JSON.stringify(gate)) ?? [];
  for (const known of gates.flatMap(knownOf)) onResult(known);
  const others = gates.filter((gate) => !results.has(JSON.stringify(gate)));
  const fresh = await checkNow(project, { gates: others, plugins }, (result, gate) => {
    results.set(JSON.stringify(gate), result);
    onResult(result);
  });
  return fresh && gates.flatMap(knownOf);
}

function notes(uncommitted: readonly string[], id: string, state: State): readonly string[] {
  const task = state.plan?.tasks.find((one) => one.id === id);
  const isOpenAgain = task !== undefined && statusOf(state, task) !== "done";
  const changes = `${count(uncommitted.length, "file")}: ${few(uncommitted, 3)}`;
  return [
    uncommitted.length === 0
      ? []
      : `Note: the work tree has uncommitted changes (${changes}); they were checked, too.`,
    isOpenAgain ? `Note: ${id} has been opened again since it was accepted.` : [],
  ].flat();
}

/** The record of an accepted task. */
function certificateLines(completion: Completion, style: Style): readonly string[] {
  const { task, iteration, at, commit } = completion;
  const where = commit === null ? "" : `, commit ${shortCommit(commit)}`;
  const facts = certificateFacts(completion).filter(({ name }) => name !== "Commit");
  const width = Math.max(...facts.map(({ name }) => name.length));
  return [
    style.bold(`${task} was accepted in iteration ${iteration}, ${isoTime(at).slice(0, 19)}Z${where}.`),
    ...facts.flatMap(({ name, values, isExact }) =>
      values.flatMap((value, index) =>
        wrap(
          `  ${(index === 0 ? name.toLowerCase() : "").padEnd(width)}  `,
          isExact ? shortCommit(value) : value,
        ),
      ),
    ),
  ];
}

function checkLines({ status, sentence, output }: Check, style: Style): readonly string[] {
  const marks = { well: style.good("✔"), warning: style.ask("!"), failed: style.bad("✗") } as const;
  const [first = "", ...more] = wrap("  ", sentence);
  return [
    `${marks[status]} ${first.trimStart()}`,
    ...more,
    ...(output === undefined ? [] : tailLines(output, style)),
  ];
}

export function defineGates(command: Command, act: Act): void {
  command
    .option("--check <command>", "another gate (repeatable)", collect)
    .option("--json", "print JSON")
    .action(act(gates));
}

async function gates(context: CliContext, { check = [] }: { check?: readonly string[] }): Promise<number> {
  const project = await openProject(context);
  const found = await projectGates(project, check);
  const configured = found.gates;
  if (configured.length === 0 && !context.json) {
    context.stdout.write(HOW_TO_ADD_ONE);
    return 0;
  }
  const redact = await gateRedactor(project, configured);
  const results = await checkNow(project, found, (result) => {
    if (!context.json) context.print(gateLines(result, context.style).map(redact));
  });
  if (results === null) return EXIT_CODES.stopped;
  tell(context, rows(configured, results, redact), () => []);
  return redGates(compareWithBaseline(results, configured, null)).length === 0 ? 0 : 1;
}

const HOW_TO_ADD_ONE = `No gate is configured: only git is checked. Add one to .ralph/ralph.toml:
  [[gates]]
  name = "tests"
  command = "npm test"
Or try one first: ralph gates --check "npm test"
`;

function rows(
  gates: readonly GateSettings[],
  results: readonly GateResult[],
  redact: (text: string) => string,
): readonly object[] {
  return results.map((result, at) => ({
    name: redact(result.name),
    command: redact(gates[at]?.command ?? ""),
    kind: gates[at]?.kind ?? null,
    required: result.required,
    status: result.status,
    exit_code: result.exitCode,
    duration_seconds: result.durationMs / 1_000,
    tries: result.tries,
    failures: outcomeOf(result).failures,
    tail: result.tail,
  }));
}
