import { hasLog, readState, unknownTask, withLog } from "../../app/project-log.ts";
import { type Project, isDriven as isDrivenNow, openProject } from "../../app/project.ts";
import type { Style } from "../../core/text.ts";
import {
  explainRun,
  runJson,
  type RunExplanation,
  explainTask,
  taskJson,
  type TaskExplanation,
} from "../../core/views/explain.ts";
import type { Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { styleFor, wrap } from "../print/style.ts";
import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import {
  explainIteration,
  iterationJson,
  type IterationDetails,
} from "../../core/views/explain-iteration.ts";
import { iterationRecords } from "../../core/views/iteration-record.ts";
import { RalphError } from "../../core/errors.ts";
import type { LogFilter } from "../../engine/ports.ts";

export function define(command: Command, act: Act): void {
  command
    .argument("[what]", "the id of a task or the number of an iteration; without it the last run")
    .option("--json", "print JSON")
    .action((what: string | undefined, flags: { json?: boolean }) =>
      act((context) => why(what, flags.json === true, context)),
    );
}

/** An answer in both forms. */
interface Answer {
  readonly lines: readonly string[];
  readonly json: Record<string, unknown>;
}

async function why(what: string | undefined, asJson: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const { lines, json } = await answer(what, project, context);
  return tell(context, asJson, json, () => lines);
}

async function answer(what: string | undefined, project: Project, context: CliContext): Promise<Answer> {
  const state = await readState(project);
  const isDriven = await isDrivenNow(project);
  const style = styleFor(context.stdout, context.env);
  if (what === undefined) {
    const explanation = explainRun(state, isDriven);
    return { lines: runLines(explanation, style), json: runJson(explanation) };
  }
  const events = await eventsOf(project, { task: what });
  if (events.length > 0 || isPlanned(state, what)) {
    const explanation = explainTask(what, events, state, isDriven);
    return { lines: taskLines(explanation, style), json: taskJson(explanation) };
  }
  if (!/^\d+$/.test(what)) throw await unknownTask(what, state, project);
  const number = Number(what);
  const [record] = iterationRecords(await eventsOf(project, { iteration: number }));
  if (record === undefined) throw unknownIteration(number, state);
  return { lines: iterationLines(explainIteration(record), number, style), json: iterationJson(record) };
}

function isPlanned({ plan }: State, id: string): boolean {
  return plan?.tasks.some((task) => task.id === id) ?? false;
}

async function eventsOf(project: Project, filter: LogFilter): Promise<readonly Recorded[]> {
  return hasLog(project) ? withLog(project, (log) => log.read(0, filter)) : [];
}

function unknownIteration(number: number, { lastIteration }: State): RalphError {
  const last = lastIteration === 0 ? "none has run yet" : `the last one is ${lastIteration}`;
  return new RalphError("usage", `there is no iteration ${number}; ${last}`, {
    hint: "ralph history lists the iterations",
  });
}

function runLines({ headline, tasks, next }: RunExplanation, style: Style): readonly string[] {
  return [
    ...bold(wrap("", headline), style),
    ...tasks.flatMap((task) => [...wrap("  ", task.text), ...nextLines(task.next, "    ", style)]),
    ...nextLines(next, "", style),
  ];
}

function taskLines(explanation: TaskExplanation, style: Style): readonly string[] {
  const { headline, steps, next } = explanation;
  const numbers = steps.map(({ record }) => String(record?.iteration ?? "–"));
  const width = Math.max(1, ...numbers.map((number) => number.length));
  const isCertificate = next !== null && next.startsWith("ralph verify");
  return [
    ...bold(wrap("", headline), style),
    ...steps.flatMap(({ text }, at) => wrap(`  ${(numbers[at] ?? "").padStart(width)}  `, text)),
    ...(isCertificate ? [`Certificate: ${next}`] : nextLines(next, "", style)),
  ];
}

function iterationLines(
  { headline, groups }: IterationDetails,
  iteration: number,
  style: Style,
): readonly string[] {
  const width = Math.max(0, ...groups.map(({ about }) => about.length));
  return [
    ...bold(wrap("", headline), style),
    ...groups.flatMap(({ about, sentences }) =>
      sentences.flatMap((sentence, at) => wrap(`  ${(at === 0 ? about : "").padEnd(width)}  `, sentence)),
    ),
    `Transcript: ralph logs ${iteration}`,
  ];
}

function nextLines(next: string | null, indent: string, style: Style): readonly string[] {
  return next === null ? [] : [style.ask(`${indent}→ ${next}`)];
}

function bold(lines: readonly string[], style: Style): readonly string[] {
  return lines.map((line) => style.bold(line));
}
