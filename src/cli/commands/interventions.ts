import {
  iterationRecords,
  PROMISE_EVENTS,
  promiseEntries,
  type PromiseEntry,
} from "../../core/projections/history.ts";
import { lessonsOf, type Lesson } from "../../core/interventions/intervention.ts";
import { Option, type Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { columns, shortened, styleFor } from "../print/style.ts";
import { readState, withLog } from "../project-state.ts";
import { unknownName, unknownTask } from "../require-person.ts";
import { driverOf, hasLog, interventionFilesOf, openProject, type Project } from "../../compose.ts";
import type { State } from "../../core/loop/state.ts";
import {
  INTERVENTION_NAMES,
  interventionEntry,
  isIntervention,
  isRotated,
  ROTATION_DAYS,
  type InterventionEntry,
  metricsOf,
  type Metrics,
  profileEntries,
  type ProfileEntry,
  blockedTasks,
} from "../../core/projections/interventions.ts";
import { RalphError } from "../../core/ralph-error.ts";

const LAST = 10;
const MESSAGE_LENGTH = 100;

interface InterventionFlags {
  readonly last?: number;
  readonly type?: string;
  readonly json?: boolean;
  readonly reset?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--last <n>", `only the last so many; without it ${LAST}, as JSON all`, wholeNumber)
    .addOption(new Option("--type <type>", "only this type").choices(INTERVENTION_NAMES).argParser(knownType))
    .option("--json", "print JSON")
    .option("--reset", "begin events, profiles, metrics and lessons anew")
    .action((flags: InterventionFlags) => act((context) => interventions(flags, context)));
}

async function interventions(flags: InterventionFlags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  if (flags.reset === true) return reset(project, flags.json === true, context);
  const state = await readState(project);
  const all = await recentEntries(project, state);
  const matching = all.filter((entry) => flags.type === undefined || entry.event_type === flags.type);
  const { stdout, stderr } = context;
  if (flags.json === true) {
    const shown = flags.last === undefined ? matching : matching.slice(-flags.last);
    stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return 0;
  }
  const shown = matching.slice(-(flags.last ?? LAST));
  if (shown.length === 0) stdout.write(`${nothing(state, flags.type)}\n`);
  for (const line of columns(shown.map(interventionCells))) stdout.write(`${line}\n`);
  if (shown.length < matching.length)
    stderr.write(`ralph: the last ${shown.length} of ${matching.length}; all: --last ${matching.length}\n`);
  return 0;
}

/** What `events.json` holds. */
async function recentEntries(project: Project, state: State): Promise<readonly InterventionEntry[]> {
  if (!hasLog(project)) return [];
  const types = ["intervention.chosen"] as const;
  const events = await withLog(project, (log) => log.read(state.interventionsSince, { types }));
  const now = Date.now();
  const days = rotationDays(state);
  return events
    .filter(isIntervention)
    .filter(({ at }) => !isRotated(at, now, days))
    .map(interventionEntry);
}

function interventionCells(entry: InterventionEntry): readonly string[] {
  return [
    String(entry.iteration).padStart(3),
    entry.timestamp.slice(0, 19),
    entry.details.task_id,
    entry.details.agent,
    entry.severity,
    entry.event_type,
    // Its number stands first in the line.
    shortened(entry.message.replace(/^In iteration \d+:? /, ""), MESSAGE_LENGTH),
  ];
}

function nothing(state: State, type: string | undefined): string {
  if (state.run === null) return 'No run yet in this repository. Start one: ralph run "what you want"';
  if (state.tally.interventions === 0)
    return "No agent had to be corrected. How they work here: ralph profile";
  if (type !== undefined) return `Nothing of the type ${type}. All of them: ralph interventions`;
  return `Nothing in the last ${rotationDays(state)} days; what is older lies in interventions/events-*.json.gz. In sum: ralph metrics`;
}

async function reset(project: Project, asJson: boolean, { stdout, stderr }: CliContext): Promise<number> {
  if (hasLog(project)) {
    await withLog(project, (log) => log.append([{ type: "interventions.reset" }]));
    const state = await readState(project);
    // A run that is on hears of it by itself, and so do workers.
    if (project.queue === null && driverOf(project) === null)
      await withLog(project, (log) => interventionFilesOf(project, log).restore(state));
  }
  if (asJson) stdout.write("[]\n");
  stderr.write(
    "ralph: events, profiles, metrics and lessons begin anew; ralph history still has everything\n",
  );
  return 0;
}

function rotationDays({ run }: State): number {
  return run?.settings.interventions.rotationDays ?? ROTATION_DAYS;
}

function knownType(name: string): string {
  if (INTERVENTION_NAMES.includes(name)) return name;
  throw unknownName("type of intervention", name, INTERVENTION_NAMES);
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new RalphError("usage", `--last takes a number from 1 on, not "${text}"`, {
    hint: "for example: ralph interventions --last 20",
  });
}

interface LessonFlags {
  readonly remove?: string;
  readonly json?: boolean;
}

export function defineLessons(command: Command, act: Act): void {
  command
    .argument("[action]", 'nothing lists the lessons; "remove" takes one away')
    .argument("[rule]", "of the lesson to take away")
    .option("--remove <rule>", "the same as: remove RULE")
    .option("--json", "print JSON")
    .action((action: string | undefined, rule: string | undefined, flags: LessonFlags) =>
      act((context) => lessons(ruleToRemove(action, rule, flags), flags.json === true, context)),
    );
}

async function lessons(unwanted: string | null, asJson: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const known = lessonsOf((await readState(project)).findings);
  const left = unwanted === null ? known : await remove(project, unwanted, known, context);
  if (asJson) context.stdout.write(`${JSON.stringify(left, null, 2)}\n`);
  else if (unwanted === null) list(left, context);
  return 0;
}

function list(known: readonly Lesson[], { stdout }: CliContext): void {
  if (known.length === 0)
    stdout.write(
      "No lesson yet: what goes wrong in three tasks becomes one. What went wrong so far: ralph interventions\n",
    );
  const rows = known.map(({ rule, tasks, sentence }) => [rule, tasks.join(", "), sentence]);
  for (const line of columns(rows)) stdout.write(`${line}\n`);
}

async function remove(
  project: Project,
  rule: string,
  known: readonly Lesson[],
  { stderr }: CliContext,
): Promise<readonly Lesson[]> {
  const rules = known.map((lesson) => lesson.rule);
  if (!rules.includes(rule)) throw unknownName("lesson", rule, rules);
  await withLog(project, (log) => log.append([{ type: "lesson.removed", rule }]));
  stderr.write(`ralph: ${rule} is no lesson any more; it comes back if it goes wrong in three tasks again\n`);
  return known.filter((lesson) => lesson.rule !== rule);
}

function ruleToRemove(
  action: string | undefined,
  rule: string | undefined,
  flags: LessonFlags,
): string | null {
  if (action === undefined) return flags.remove ?? null;
  const hint = "ralph lessons lists them, ralph lessons remove RULE takes one away";
  if (action !== "remove") throw new RalphError("usage", `ralph lessons cannot "${action}"`, { hint });
  if (rule === undefined) throw new RalphError("usage", "say which lesson to remove", { hint });
  return rule;
}

interface ProfileFlags {
  readonly agent?: string;
  readonly json?: boolean;
}

export function defineProfile(command: Command, act: Act): void {
  command
    .option("--agent <name>", "only this agent")
    .option("--json", "print JSON")
    .action((flags: ProfileFlags) => act((context) => profile(flags, context)));
}

async function profile({ agent, json }: ProfileFlags, context: CliContext): Promise<number> {
  const { stdout, env } = context;
  const all = profileEntries(await readState(await openProject(context)));
  const names = all.map((entry) => entry.agent_id);
  // Before the first iteration nobody is known, so nobody can be wrong.
  if (agent !== undefined && all.length > 0 && !names.includes(agent))
    throw unknownName("profile of", agent, names);
  const shown = all.filter((entry) => agent === undefined || entry.agent_id === agent);
  if (json === true) stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  else if (shown.length === 0) stdout.write("No agent has worked here yet. Start a run: ralph run\n");
  else {
    const [header = "", ...lines] = columns([HEADER, ...shown.map(profileCells)]);
    stdout.write(`${styleFor(stdout, env).dim(header)}\n`);
    for (const line of lines) stdout.write(`${line}\n`);
  }
  return 0;
}

const HEADER = ["agent", "iterations", "no files", "false claims", "files each", "last corrected", ""];

function profileCells(entry: ProfileEntry): readonly string[] {
  return [
    entry.agent_id,
    String(entry.total_iterations),
    String(entry.no_files_count),
    String(entry.false_completion_count),
    entry.avg_files_per_iteration === null ? "unknown" : entry.avg_files_per_iteration.toFixed(1),
    entry.last_reinforcement === null ? "never" : entry.last_reinforcement.slice(0, 19),
    entry.intervention_threshold_exceeded ? "over the threshold" : "",
  ];
}

export function defineMetrics(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: { json?: boolean }) => act((context) => metrics(flags.json === true, context)));
}

async function metrics(asJson: boolean, context: CliContext): Promise<number> {
  const state = await readState(await openProject(context));
  const { stdout } = context;
  if (asJson) stdout.write(`${JSON.stringify(metricsOf(state), null, 2)}\n`);
  else if (state.tally.iterations === 0 && state.tally.interventions === 0)
    stdout.write("Nothing to measure yet. Start a run: ralph run\n");
  else for (const line of columns(rows(state, metricsOf(state)))) stdout.write(`${line}\n`);
  return 0;
}

function rows(state: State, numbers: Metrics): readonly (readonly string[])[] {
  const { tally } = state;
  const types = Object.entries(numbers.interventions_by_type)
    .toSorted(([, a], [, b]) => b - a)
    .map(([type, count]) => [`  ${type}`, String(count)]);
  const cost = numbers.cost_per_accepted_task_usd;
  return [
    [
      "iterations",
      String(tally.iterations),
      `${tally.wasted} without progress (${percent(numbers.wasted_rate)})`,
    ],
    ["files per iteration", decimal(numbers.files_per_iteration)],
    ["tasks begun", String(tally.tasksStarted), tasksLine(state, numbers)],
    ["cost per accepted task", cost === null ? "unknown" : `$${cost.toFixed(2)}`],
    [
      "interventions",
      String(tally.interventions),
      `${decimal(numbers.intervention_rate_per_100_iterations)} in 100 iterations`,
    ],
    ...types,
    [
      "corrections that helped",
      percent(numbers.avg_remediation_success_rate),
      `${tally.remedied} of ${tally.corrected}`,
    ],
  ];
}

function tasksLine(state: State, numbers: Metrics): string {
  const blocked = blockedTasks(state);
  return `${state.tally.tasksCompleted} completed (${percent(numbers.completion_rate)}), ${blocked} blocked (${percent(numbers.blocked_rate)})`;
}

function percent(rate: number | null): string {
  return rate === null ? "unknown" : `${Math.round(rate * 100)} %`;
}

function decimal(number: number | null): string {
  return number === null ? "unknown" : number.toFixed(1);
}

const PROMISE_LENGTH = 40;

interface PromiseFlags {
  readonly task?: string;
  readonly json?: boolean;
}

export function definePromises(command: Command, act: Act): void {
  command
    .option("--task <id>", "only this task")
    .option("--json", "print JSON")
    .action((flags: PromiseFlags) => act((context) => promises(flags, context)));
}

async function promises({ task, json }: PromiseFlags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const filter = { types: PROMISE_EVENTS, ...(task !== undefined && { task }) };
  const events = hasLog(project) ? await withLog(project, (log) => log.read(0, filter)) : [];
  if (task !== undefined && events.length === 0) {
    const state = await readState(project);
    if (state.tasks[task] === undefined) throw await unknownTask(task, state, project);
  }
  const entries = promiseEntries(iterationRecords(events));
  const { stdout } = context;
  if (json === true) stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
  else if (entries.length === 0)
    stdout.write("Nobody has promised anything yet. What the iterations did: ralph history\n");
  else for (const line of columns(entries.map(promiseCells))) stdout.write(`${line}\n`);
  return 0;
}

function promiseCells(entry: PromiseEntry): readonly string[] {
  return [
    String(entry.iteration).padStart(3),
    entry.at.slice(0, 19),
    entry.task,
    entry.agent,
    asPrinted(entry),
    entry.verdict ?? "open",
    entry.reasons.join("; "),
  ];
}

function asPrinted({ promise, matches, hidden, claim }: PromiseEntry): string {
  if (promise === null) return hidden ? "(quoted: does not count)" : "(a status line)";
  const text = shortened(promise, PROMISE_LENGTH);
  const isSignal = claim === "blocked" || claim === "undecided" || claim === "already_done";
  return matches || isSignal ? text : `${text} (not the expected one)`;
}
