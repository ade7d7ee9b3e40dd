import { readEvents, readState, meantTask } from "../../app/project-log.ts";
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
import { wrap } from "../print/style.ts";
import {
  explainIteration,
  iterationJson,
  type IterationDetails,
} from "../../core/views/explain-iteration.ts";
import { iterationRecords } from "../../core/views/iteration-record.ts";
import type { Recorded } from "../../core/events.ts";
import { RalphError } from "../../core/errors.ts";

export function define(command: Command, act: Act): void {
  command
    .argument("[what]", "the id of a task or the number of an iteration; without it the last run")
    .option("--json", "print JSON")
    .action(act(why));
}

/** An answer in both forms. */
interface Answer {
  readonly lines: readonly string[];
  readonly json: Record<string, unknown>;
}

async function why(context: CliContext, what: string | undefined): Promise<number> {
  const { lines, json } = await answer(what, await openProject(context), context.style);
  return tell(context, json, () => lines);
}

async function answer(what: string | undefined, project: Project, style: Style): Promise<Answer> {
  const state = await readState(project);
  const isDriven = await isDrivenNow(project);
  if (what === undefined) {
    const explanation = explainRun(state, isDriven);
    return { lines: runLines(explanation, style), json: runJson(explanation) };
  }
  const ofTask = (id: string, events: readonly Recorded[]): Answer => {
    const explanation = explainTask(id, events, state, isDriven);
    return { lines: taskLines(explanation, style), json: taskJson(explanation) };
  };
  const events = await readEvents(project, { task: what });
  if (events.length > 0) return ofTask(what, events);
  if (!/^\d+$/.test(what) || state.plan?.tasks.some(({ id }) => id === what) === true) {
    const id = await meantTask(what, state, project);
    return ofTask(id, await readEvents(project, { task: id }));
  }
  const number = Number(what);
  const [record] = iterationRecords(await readEvents(project, { iteration: number }));
  if (record === undefined) {
    const { lastIteration } = state;
    const last = lastIteration === 0 ? "none has run yet" : `the last one is ${lastIteration}`;
    throw new RalphError("usage", `there is no iteration ${number}; ${last}`, {
      hint: "ralph history lists the iterations",
    });
  }
  return { lines: iterationLines(explainIteration(record), number, style), json: iterationJson(record) };
}

function runLines({ headline, tasks, next }: RunExplanation, style: Style): readonly string[] {
  return [
    ...wrap("", headline).map(style.bold),
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
    ...wrap("", headline).map(style.bold),
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
    ...wrap("", headline).map(style.bold),
    ...groups.flatMap(({ about, sentences }) =>
      sentences.flatMap((sentence, at) => wrap(`  ${(at === 0 ? about : "").padEnd(width)}  `, sentence)),
    ),
    `Transcript: ralph logs ${iteration}`,
  ];
}

function nextLines(next: string | null, indent: string, style: Style): readonly string[] {
  return next === null ? [] : [style.ask(`${indent}→ ${next}`)];
}
