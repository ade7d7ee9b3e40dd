import type { Recorded } from "../events.ts";
import { dollars } from "../loop/brakes.ts";
import { statusOf, whyBlocked } from "../loop/task-status.ts";
import type { Plan, Task } from "../plan.ts";
import { type State, taskState } from "../state.ts";
import { type Instant, isoTime } from "../time.ts";
import { doneIds } from "../views/inbox.ts";
import { iterationRecords, iterationRow, type IterationRow, sumOf } from "../views/iteration-record.ts";
import { runList } from "../views/run-list.ts";
import { printable } from "./page.ts";
import {
  type Block,
  figures,
  reportSections,
  type Section,
  type Table,
  verdictWord,
  waitingSection,
  waitingVerb,
} from "./report-sections.ts";
import { asSentence } from "../views/explain-words.ts";
import type { RunReport, TaskReport, Waiting } from "./run-report.ts";
import { bounded, certificateFacts, moment, title, whyInWords } from "./words.ts";

/** The same facts as in the page, for a pull request, a mail or a terminal. */
export function markdownReport(report: RunReport): string {
  return document(report, "#", [
    ...reportSections(report).flatMap((section) => sectionLines(section, "##")),
    `Run ${code(report.run.id)}; ${plain(report.madeBy)}, ${moment(report.madeAt)}. All times are UTC.`,
  ]);
}

/** More than anybody reads; a job may have several summaries, and together they are bounded. */
const TASKS_SHOWN = 100;

/** The short report that stands on the page of a CI job: how it ended, what waits, and a row a task. */
export function jobSummary(report: RunReport): string {
  const begun = report.tasks.filter(({ steps }) => steps.length > 0);
  const names = ["Task", "Title", "Status", "#Iterations", "Last verdict", "Commit"];
  const more = begun.length - TASKS_SHOWN;
  return document(report, "##", [
    ...blockLines({ is: "figures", figures: figures(report) }, "###"),
    ...sectionLines(waitingSection(report), "###"),
    ...(begun.length === 0
      ? ["No task was worked on.", ""]
      : table(names, begun.slice(0, TASKS_SHOWN).map(taskCells))),
    ...(more > 0 ? [`And ${more} more.`, ""] : []),
    `Run ${code(report.run.id)}, by ${plain(report.madeBy)}. All of it: ${code("ralph report --html --out report.html")}`,
    "",
  ]);
}

function taskCells({ id, title: name, status, steps, acceptance }: TaskReport): readonly string[] {
  const verdicts = steps.flatMap(({ iteration, verdict }) => (iteration === null ? [] : [verdict]));
  return [
    plain(id),
    plain(bounded(name ?? "")),
    plain(status ?? "gone"),
    String(verdicts.length),
    verdictWord(verdicts.at(-1) ?? null),
    acceptance?.commit == null ? "" : code(acceptance.commit.slice(0, 8)),
  ];
}

function document(report: RunReport, level: string, content: readonly string[]): string {
  const heading = `${level} ${plain(`${report.project}: ${title(report)}`)}`;
  return `${[heading, "", plain(whyInWords(report)), "", ...content].join("\n")}\n`;
}

function sectionLines({ title: name, blocks }: Section, level: string): readonly string[] {
  const lines = blocks.flatMap((block) => blockLines(block, level));
  return lines.length === 0 || name === "" ? lines : [`${level} ${name}`, "", ...lines];
}

function blockLines(block: Block, level: string): readonly string[] {
  switch (block.is) {
    case "text":
      return [plain(block.text), ""];
    case "command":
      return [`${plain(block.text)} ${code(block.command)}`, ""];
    case "figures":
      return table(
        ["", ""],
        block.figures.map(({ name, value }) => [name, plain(value)]),
      );
    case "waiting":
      return [
        ...block.items.flatMap((item) => [
          `- **${plain(item.task)}** ${plain(waitingInWords(item))}`,
          `  ${code(item.command)}`,
        ]),
        "",
      ];
    case "task":
      return taskLines(block.task, level);
    case "table":
    case "timeline":
      return tableLines(block.table);
    case "charts":
      return block.charts.flatMap(({ caption, table: numbers }) =>
        numbers === undefined ? [] : [`${level}# ${caption}`, "", ...tableLines(numbers)],
      );
  }
}

/** "is blocked: no credentials", and what to know before the command. */
function waitingInWords(waiting: Waiting): string {
  const text = bounded(waiting.text);
  const more = waiting.more === "" ? text : `${asSentence(text)} ${bounded(waiting.more)}`;
  return `${waitingVerb(waiting)}: ${more}`;
}

function taskLines(
  { id, title: name, status, steps, stands, acceptance }: TaskReport,
  level: string,
): readonly string[] {
  const isPlain = acceptance !== null && status === "done";
  const told = steps.map(({ iteration, verdict, text }) => {
    const [sign = "", ...words] = verdictWord(verdict).split(" ");
    return iteration === null
      ? `- ${plain(bounded(text))}`
      : `- ${sign} **Iteration ${iteration}, ${words.join(" ")}**: ${plain(bounded(text))}`;
  });
  const facts = acceptance === null ? [] : certificateFacts(acceptance);
  const certificate = facts.map(({ name: fact, values, isExact }) => [
    fact,
    values.map((value) => (isExact ? code : plain)(bounded(value))).join("<br>"),
  ]);
  return [
    `${level}# ${plain(`${id}: ${name ?? ""}`)} (${status ?? "gone"})`,
    "",
    ...(isPlain ? [] : [plain(bounded(stands)), ""]),
    ...told,
    "",
    ...(facts.length === 0 ? [] : table(["Certificate", ""], certificate)),
  ];
}

function tableLines({ names, rows, sum = [] }: Table): readonly string[] {
  const all = sum.length === 0 ? [] : [sum.map((cell, at) => (at === 0 ? `**${cell}**` : plain(cell)))];
  return table(names, [...rows.map((cells) => cells.map(plain)), ...all]);
}

/** A list of tasks at the moment at which it is put away. */
interface ArchivedList {
  readonly project: string;
  readonly label: string;
  readonly at: Instant;
  /** What a person knows the source by; null when there was none. */
  readonly source: string | null;
  /** Null when the source could not be read; `problem` then says why. */
  readonly plan: Plan | null;
  readonly problem: string | null;
  readonly state: State;
  /** At least those of its iterations and runs, and every `task.reset`. */
  readonly events: readonly Recorded[];
  /** What was put into the folder, and from where. */
  readonly files: readonly { readonly name: string; readonly from: string }[];
}

/** The `summary.md` of an archived list: what was asked for, and what came of it. */
export function archiveSummary(list: ArchivedList): string {
  const { plan, state, source, problem, label, project, at } = list;
  const rows = iterationRecords(eventsOfList(list)).map(iterationRow);
  const runs = runList(list.events, rows).filter(({ iterations }) => iterations > 0);
  const done = doneIds(state);
  const tasks = plan?.tasks ?? [];
  const why = problem === null ? "" : `, since they could not be read: ${oneLine(problem)}`;
  const counted = `${tasks.filter(({ id }) => done.has(id)).length} of ${tasks.length} done`;
  const costUsd = runs.reduce<number | null>((sum, run) => sumOf(sum, run.costUsd), null);
  const numbers = [...new Set([rows[0], rows.at(-1)])].flatMap((row) => row?.iteration ?? []);
  return [
    `# ${oneLine(label)}`,
    "",
    `- Project: ${oneLine(project)}`,
    `- Tasks from: ${source === null ? "nowhere, there was no task source" : oneLine(source)}`,
    `- Archived: ${isoTime(at)}`,
    `- Tasks: ${plan === null ? `unknown${why}` : counted}`,
    `- Iterations: ${rows.length}${numbers.length === 0 ? "" : ` (${numbers.join(" to ")})`}`,
    `- Runs: ${runs.length}`,
    `- Cost: ${costUsd === null ? "unknown" : dollars(costUsd)}`,
    "",
    ...listTable(
      "Tasks",
      ["Task", "Title", "Status", "Iterations", "Commit"],
      tasks.map((task) => archivedCells(task, list, rows)),
    ),
    ...listTable(
      "Runs",
      ["Started", "Iterations", "Ended as"],
      runs
        .toReversed()
        .map((run) => [
          isoTime(run.startedAt),
          String(run.iterations),
          run.outcome === null ? "its process died" : `${run.outcome} (code ${run.exitCode}): ${run.reason}`,
        ]),
    ),
    ...(list.files.length === 0 ? [] : ["## Files", ""]),
    ...list.files.map(({ name, from }) => `- ${name}, from ${from}`),
    "",
  ].join("\n");
}

/** Of the list's own iterations. A task that was reset began anew, so an earlier list's of the same id are left out. */
function eventsOfList({ plan, events }: ArchivedList): readonly Recorded[] {
  const began = new Map((plan?.tasks ?? []).map(({ id }) => [id, 0]));
  for (const event of events) {
    if (event.type === "task.reset" && began.has(event.task)) began.set(event.task, event.position);
  }
  return events.filter(
    (event) => "iteration" in event && event.position > (began.get(event.task) ?? Infinity),
  );
}

function archivedCells(
  task: Task,
  { state }: ArchivedList,
  rows: readonly IterationRow[],
): readonly string[] {
  const status = statusOf(state, task);
  const known = taskState(state, task.id);
  const why = { blocked: whyBlocked(known) ?? "", undecided: known.question?.text ?? "" };
  return [
    task.id,
    task.title,
    status === "blocked" || status === "undecided" ? `${status}: ${why[status]}` : status,
    String(rows.filter((row) => row.task === task.id).length),
    known.completion?.commit ?? "–",
  ];
}

function listTable(
  title: string,
  names: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return [];
  return [
    `## ${title}`,
    "",
    ...table(
      names,
      rows.map((cells) => cells.map(oneLine)),
    ),
  ];
}

/** One line of plain text: nothing in it is markup, wherever it stands. */
export function plain(text: string): string {
  return oneLine(printable(text))
    .replace(/[\\`*[\]<>|~]/g, String.raw`\$&`)
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
    .replace(/&(?=#?\w+;)/g, String.raw`\&`)
    .replace(/^(?=[#+=-])/, "\\")
    .replace(/^(\d+)(?=[.)])/, "$1\\");
}

/** Something to type or to look for, as it is. */
export function code(text: string): string {
  const line = oneLine(printable(text));
  const runs = line.match(/`+/g)?.map(({ length }) => length) ?? [];
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  const isTouching = line.startsWith("`") || line.endsWith("`");
  return isTouching ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}

/** Cells are markdown already; a name that begins with "#" is one of numbers. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const isNumber = (name: string): boolean => name.length > 1 && name.startsWith("#");
  const shown = names.map((name) => (isNumber(name) ? name.slice(1) : name));
  return [
    row(shown),
    row(names.map((name) => (isNumber(name) ? "---:" : "---"))),
    ...rows.map((cells) => row(cells.map(inCell))),
    "",
  ];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** A table is cut at its bars before anything else is read, even inside code. */
function inCell(text: string): string {
  return text.replace(/(?<!\\)((?:\\\\)*)\|/g, String.raw`$1\|`);
}
