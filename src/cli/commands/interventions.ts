import { hasLog, iterationsOf, meantTask, readEvents, readState, withLog } from "../../app/project-log.ts";
import { type Project, driverOf, openProject } from "../../app/project.ts";
import { blockedIds } from "../../core/views/inbox.ts";
import { promiseEntries, type PromiseEntry } from "../../core/views/iteration-entries.ts";
import { INTERVENTION_TYPES, lessonsOf } from "../../core/loop/intervention.ts";
import { Option, type Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { columns, shortened } from "../print/style.ts";
import { unknownName } from "../report-error.ts";
import { InterventionFiles } from "../../adapters/files/intervention-files.ts";
import { systemClock } from "../../adapters/process/system-clock.ts";
import { wholeNumber } from "../run-options.ts";
import type { State } from "../../core/state.ts";
import {
  interventionEntry,
  isRotated,
  ROTATION_DAYS,
  type InterventionEntry,
  metricsOf,
  type Metrics,
  profileEntries,
  type ProfileEntry,
} from "../../core/views/interventions.ts";
import { RalphError } from "../../core/errors.ts";

const LAST = 10;
const MESSAGE_LENGTH = 100;

interface InterventionFlags {
  readonly last?: number;
  readonly type?: string;
  readonly reset?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--last <n>", `only the last so many; without it ${LAST}, as JSON all`, wholeNumber("--last"))
    .addOption(new Option("--type <type>", "only this type").choices(INTERVENTION_TYPES).argParser(knownType))
    .option("--json", "print JSON")
    .option("--reset", "begin events, profiles, metrics and lessons anew")
    .action(act(interventions));
}

async function interventions(context: CliContext, flags: InterventionFlags): Promise<number> {
  const project = await openProject(context);
  if (flags.reset === true) return reset(project, context);
  const state = await readState(project);
  const all = await recentEntries(project, state);
  const matching = all.filter((entry) => flags.type === undefined || entry.event_type === flags.type);
  const shown = matching.slice(-(flags.last ?? (context.json ? Infinity : LAST)));
  tell(context, shown, () =>
    shown.length === 0 ? [nothing(state, flags.type)] : columns(shown.map(interventionCells)),
  );
  if (!context.json && shown.length < matching.length)
    context.say(`the last ${shown.length} of ${matching.length}; all: --last ${matching.length}`);
  return 0;
}

/** What `events.json` holds. */
async function recentEntries(project: Project, state: State): Promise<readonly InterventionEntry[]> {
  const events = await readEvents(project, { types: ["intervention.chosen"] }, state.interventionsSince);
  const now = Date.now();
  const days = rotationDays(state);
  return events
    .filter((event) => event.type === "intervention.chosen")
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

async function reset(project: Project, context: CliContext): Promise<number> {
  if (hasLog(project)) {
    await withLog(project, (log) => log.append([{ type: "interventions.reset" }]));
    const state = await readState(project);
    // A run that is on hears of it by itself, and so do workers.
    if (project.queue === null && driverOf(project) === null)
      await withLog(project, (log) =>
        new InterventionFiles(project.ralphDir, log, systemClock).restore(state),
      );
  }
  context.say("events, profiles, metrics and lessons begin anew; ralph history still has everything");
  return tell(context, [], () => []);
}

function rotationDays({ run }: State): number {
  return run?.settings.interventions.rotationDays ?? ROTATION_DAYS;
}

function knownType(name: string): string {
  if (INTERVENTION_TYPES.some((type) => type === name)) return name;
  throw unknownName("type of intervention", name, INTERVENTION_TYPES);
}

export function defineLessons(command: Command, act: Act): void {
  command
    .argument("[action]", 'nothing lists the lessons; "remove" takes one away')
    .argument("[rule]", "of the lesson to take away")
    .option("--json", "print JSON")
    .action(act(lessons));
}

async function lessons(
  context: CliContext,
  action: string | undefined,
  rule: string | undefined,
): Promise<number> {
  const hint = "ralph lessons lists them, ralph lessons remove RULE takes one away";
  if (action !== undefined && action !== "remove")
    throw new RalphError("usage", `ralph lessons cannot "${action}"`, { hint });
  if (action !== undefined && rule === undefined)
    throw new RalphError("usage", "say which lesson to remove", { hint });
  const project = await openProject(context);
  const known = lessonsOf((await readState(project)).findings);
  if (rule === undefined)
    return tell(context, known, () =>
      known.length === 0
        ? [NO_LESSON]
        : columns(known.map((lesson) => [lesson.rule, lesson.tasks.join(", "), lesson.sentence])),
    );
  const rules = known.map((lesson) => lesson.rule);
  if (!rules.includes(rule)) throw unknownName("lesson", rule, rules);
  await withLog(project, (log) => log.append([{ type: "lesson.removed", rule }]));
  context.say(`${rule} is no lesson any more; it comes back if it goes wrong in three tasks again`);
  const left = known.filter((lesson) => lesson.rule !== rule);
  return tell(context, left, () => []);
}

const NO_LESSON =
  "No lesson yet: what goes wrong in three tasks becomes one. What went wrong so far: ralph interventions";

export function defineProfile(command: Command, act: Act): void {
  command.option("--agent <name>", "only this agent").option("--json", "print JSON").action(act(profile));
}

async function profile(context: CliContext, { agent }: { agent?: string }): Promise<number> {
  const all = profileEntries(await readState(await openProject(context)));
  const names = all.map((entry) => entry.agent_id);
  // Before the first iteration nobody is known, so nobody can be wrong.
  if (agent !== undefined && all.length > 0 && !names.includes(agent))
    throw unknownName("profile of", agent, names);
  const shown = all.filter((entry) => agent === undefined || entry.agent_id === agent);
  return tell(context, shown, () => {
    if (shown.length === 0) return ["No agent has worked here yet. Start a run: ralph run"];
    const [header = "", ...lines] = columns([HEADER, ...shown.map(profileCells)]);
    return [context.style.dim(header), ...lines];
  });
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
  command.option("--json", "print JSON").action(act(metrics));
}

async function metrics(context: CliContext): Promise<number> {
  const state = await readState(await openProject(context));
  const numbers = metricsOf(state);
  const isEmpty = state.tally.iterations === 0 && state.tally.interventions === 0;
  return tell(context, numbers, () =>
    isEmpty ? ["Nothing to measure yet. Start a run: ralph run"] : columns(rows(state, numbers)),
  );
}

function rows(state: State, numbers: Metrics): readonly (readonly string[])[] {
  const { iterations, wasted, tasksStarted, tasksCompleted, interventions, remedied, corrected } =
    state.tally;
  const types = Object.entries(numbers.interventions_by_type)
    .toSorted(([, a], [, b]) => b - a)
    .map(([type, times]) => [`  ${type}`, String(times)]);
  const cost = numbers.cost_per_accepted_task_usd;
  const rate = decimal(numbers.intervention_rate_per_100_iterations);
  const helped = percent(numbers.avg_remediation_success_rate);
  return [
    ["iterations", String(iterations), `${wasted} without progress (${percent(numbers.wasted_rate)})`],
    ["files per iteration", decimal(numbers.files_per_iteration)],
    [
      "tasks begun",
      String(tasksStarted),
      `${tasksCompleted} completed (${percent(numbers.completion_rate)}), ${blockedIds(state).length} blocked (${percent(numbers.blocked_rate)})`,
    ],
    ["cost per accepted task", cost === null ? "unknown" : `$${cost.toFixed(2)}`],
    ["interventions", String(interventions), `${rate} in 100 iterations`],
    ...types,
    ["corrections that helped", helped, `${remedied} of ${corrected}`],
  ];
}

function percent(rate: number | null): string {
  return rate === null ? "unknown" : `${Math.round(rate * 100)} %`;
}

function decimal(number: number | null): string {
  return number === null ? "unknown" : number.toFixed(1);
}

const PROMISE_LENGTH = 40;

export function definePromises(command: Command, act: Act): void {
  command.option("--task <id>", "only this task").option("--json", "print JSON").action(act(promises));
}

async function promises(context: CliContext, { task }: { task?: string }): Promise<number> {
  const project = await openProject(context);
  const meant = task === undefined ? task : await meantTask(task, await readState(project), project);
  const records = await iterationsOf(project, meant);
  const entries = promiseEntries(records);
  return tell(context, entries, () =>
    entries.length === 0
      ? ["Nobody has promised anything yet. What the iterations did: ralph history"]
      : columns(entries.map(promiseCells)),
  );
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
  if (promise === null) return hidden ? "(quoted: does not count)" : "(by a status line or a tool)";
  const text = shortened(promise, PROMISE_LENGTH);
  const isSignal = claim === "blocked" || claim === "undecided" || claim === "already_done";
  return matches || isSignal ? text : `${text} (not the expected one)`;
}
