import { Option, type Command } from "commander";
import { driverOf, hasLog, interventionFilesOf, openProject, type Project } from "../../compose.ts";
import type { State } from "../../core/loop/state.ts";
import {
  INTERVENTION_TYPES,
  interventionEntry,
  isIntervention,
  isRotated,
  ROTATION_DAYS,
  type InterventionEntry,
} from "../../core/projections/interventions.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { columns, shortened } from "../print/columns.ts";
import { readState, withLog } from "../project-state.ts";
import { unknownName } from "../unknown-name.ts";

const LAST = 10;
const MESSAGE_LENGTH = 100;

interface Flags {
  readonly last?: number;
  readonly type?: string;
  readonly json?: boolean;
  readonly reset?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--last <n>", `only the last so many; without it ${LAST}, as JSON all`, wholeNumber)
    .addOption(new Option("--type <type>", "only this type").choices(INTERVENTION_TYPES).argParser(knownType))
    .option("--json", "print JSON")
    .option("--reset", "begin events, profiles, metrics and lessons anew")
    .action((flags: Flags) => act((context) => interventions(flags, context)));
}

async function interventions(flags: Flags, context: CliContext): Promise<number> {
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
  for (const line of columns(shown.map(cells))) stdout.write(`${line}\n`);
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

function cells(entry: InterventionEntry): readonly string[] {
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
  if (INTERVENTION_TYPES.includes(name)) return name;
  throw unknownName("type of intervention", name, INTERVENTION_TYPES);
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new RalphError("usage", `--last takes a number from 1 on, not "${text}"`, {
    hint: "for example: ralph interventions --last 20",
  });
}
