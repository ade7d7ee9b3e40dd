import { asSentence, count } from "../projections/explain-words.ts";
import { formatDuration } from "../time.ts";
import { printable } from "./page.ts";
import type { RunReport, TaskReport } from "./run-report.ts";
import {
  bounded,
  certificateFacts,
  costInWords,
  MARKS,
  moment,
  money,
  RULINGS,
  SPANS,
  timeOfDay,
  title,
  WAITING_VERBS,
  whyInWords,
} from "./words.ts";

/** The same facts as in the page, for a pull request, a mail or a terminal. */
export function markdownReport(report: RunReport): string {
  const { run, project } = report;
  const lines = [
    `# ${plain(`${project}: ${title(report)}`)}`,
    "",
    plain(whyInWords(report)),
    "",
    ...figureLines(report),
    ...waitingLines(report),
    ...timelineLines(report),
    ...iterationLines(report),
    ...interventionLines(report),
    ...taskLines(report),
    ...costLines(report),
    `Run ${code(run.id)}; ${plain(report.madeBy)}, ${moment(report.madeAt)}. All times are UTC.`,
  ];
  return `${lines.join("\n")}\n`;
}

export function figureLines(report: RunReport): readonly string[] {
  const { run, done, all, durationMs, costPerTaskUsd } = report;
  const lanes = run.lanes === 1 ? "" : `, ${count(run.lanes, "lane")}`;
  const sandbox = run.sandbox === undefined ? "" : `, in ${run.sandbox}`;
  return table(
    ["", ""],
    [
      ["Began", moment(run.startedAt)],
      ["Ended", run.endedAt === null ? "not yet" : moment(run.endedAt)],
      ["Time", formatDuration(durationMs)],
      ["Agent", plain(`${run.agent}${lanes}${sandbox}`)],
      ["Tasks from", plain(run.source)],
      ["Tasks done", `${done} of ${all}`],
      ["Iterations", String(run.iterations)],
      ["Cost", costInWords(report)],
      ["Cost per accepted task", run.accepted === 0 ? "none accepted" : money(costPerTaskUsd)],
    ],
  );
}

export function waitingLines(
  { waiting, next, isLatest }: RunReport,
  heading: "##" | "###" = "##",
): readonly string[] {
  const items = waiting.flatMap(({ task, is, text, more, command }) => [
    `- **${plain(task)}** ${WAITING_VERBS[is]}: ${plain(more === "" ? bounded(text) : `${asSentence(bounded(text))} ${bounded(more)}`)}`,
    `  ${code(command)}`,
  ]);
  const nothing = isLatest ? "Nothing waits for you." : "Nothing waited when it ended.";
  const onward = isLatest
    ? next === null
      ? []
      : ["", `Next: ${plain(next)}`]
    : ["", "Other runs came after it; how things stand now: `ralph inbox`"];
  return [
    `${heading} ${isLatest ? "Waiting for you" : "What waited for a person when it ended"}`,
    "",
    ...(items.length === 0 ? [nothing] : items),
    ...onward,
    "",
  ];
}

/** Every span of every lane, in order. */
export function timelineLines({ timeline, run, durationMs }: RunReport): readonly string[] {
  if (timeline.spans.length === 0) return [];
  const until = run.startedAt + durationMs;
  const rows = timeline.spans.map(({ is, lane, from, to, task, iteration, verdict, says }) => [
    timeOfDay(from),
    formatDuration((to ?? until) - from),
    lane === null ? "all" : String(lane),
    is === "agent" ? `iteration ${iteration ?? ""}` : SPANS[is],
    plain(task ?? ""),
    is === "agent" ? `${MARKS[verdict ?? "open"]} ${RULINGS[verdict ?? "open"]}` : "",
    plain(bounded(says)),
  ]);
  return ["## Time line", "", ...table(["Time", "#Took", "Lane", "What", "Task", "Verdict", "Why"], rows)];
}

/** What the charts of the page show. */
export function iterationLines({ rows }: RunReport): readonly string[] {
  if (rows.length === 0) return [];
  let spent: number | null = null;
  const cells = rows.map((row) => {
    if (row.costUsd !== null) spent = (spent ?? 0) + row.costUsd;
    return [
      String(row.iteration),
      plain(row.task),
      plain(row.agent),
      row.durationMs === null ? "…" : formatDuration(row.durationMs),
      row.files === null ? "–" : String(row.files),
      row.costUsd === null ? "–" : money(row.costUsd),
      spent === null ? "–" : money(spent),
      `${MARKS[row.verdict ?? "open"]} ${RULINGS[row.verdict ?? "open"]}`,
    ];
  });
  const names = ["Iteration", "Task", "Agent", "#Time", "#Files", "#Cost", "#Cost so far", "Verdict"];
  return ["## Iterations", "", ...table(names, cells)];
}

export function interventionLines({ charts }: RunReport): readonly string[] {
  const { interventions } = charts;
  if (interventions.length === 0) return [];
  const rows = interventions.map(({ type, count }) => [plain(type.replaceAll("_", " ")), String(count)]);
  return ["## Interventions", "", ...table(["Type", "#Times"], rows)];
}

/** What each agent cost on each task. */
export function costLines(report: RunReport): readonly string[] {
  const { costs, run } = report;
  if (costs.length === 0) return [];
  const rows = costs.map(({ task, agent, iterations, durationMs, tokens, costUsd }) => [
    plain(task),
    plain(agent),
    String(iterations),
    formatDuration(durationMs),
    tokens === null ? "unknown" : String(tokens),
    money(costUsd),
  ]);
  const time = formatDuration(costs.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const all = ["**All**", "", String(run.iterations), time, "", costInWords(report)];
  const names = ["Task", "Agent", "#Iterations", "#Time", "#Tokens", "#Cost"];
  return ["## Costs", "", ...table(names, [...rows, all])];
}

/** Each task with its verdicts and its certificate. */
export function taskLines({ tasks }: RunReport): readonly string[] {
  const begun = tasks.filter(({ steps }) => steps.length > 0);
  const others = tasks.filter(({ steps }) => steps.length === 0);
  const open = others.filter(({ status }) => status !== "done");
  const done = others.length - open.length;
  return [
    "## Tasks",
    "",
    ...(begun.length === 0 ? ["No task was worked on.", ""] : begun.flatMap(oneTask)),
    ...(others.length === 0 ? [] : ["## Not worked on in this run", ""]),
    ...(done === 0 ? [] : [`${count(done, "task was", "tasks were")} done before.`, ""]),
    ...(open.length === 0
      ? []
      : table(
          ["Task", "Title", "Where it stands"],
          open.map(({ id, title, stands }) => [plain(id), plain(title ?? ""), plain(bounded(stands))]),
        )),
  ];
}

function oneTask({ id, title, status, steps, stands, acceptance }: TaskReport): readonly string[] {
  const isPlain = acceptance !== null && status === "done";
  const told = steps.map(({ iteration, verdict, text }) =>
    iteration === null
      ? `- ${plain(bounded(text))}`
      : `- ${MARKS[verdict ?? "open"]} **Iteration ${iteration}, ${RULINGS[verdict ?? "open"]}**: ${plain(bounded(text))}`,
  );
  return [
    `### ${plain(`${id}: ${title ?? ""}`)} (${status ?? "gone"})`,
    "",
    ...(isPlain ? [] : [plain(bounded(stands)), ""]),
    ...told,
    "",
    ...(acceptance === null
      ? []
      : table(
          ["Certificate", ""],
          certificateFacts(acceptance).map(({ name, values, isExact }) => [
            name,
            values.map((value) => (isExact ? code : plain)(bounded(value))).join("<br>"),
          ]),
        )),
  ];
}

/** One line of plain text: nothing in it is markup, wherever it stands. */
export function plain(text: string): string {
  return printable(text)
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*[\]<>|~]/g, String.raw`\$&`)
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
    .replace(/&(?=#?\w+;)/g, String.raw`\&`)
    .replace(/^(?=[#+=-])/, "\\")
    .replace(/^(\d+)(?=[.)])/, "$1\\");
}

/** Something to type or to look for, as it is. */
export function code(text: string): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
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

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** A table is cut at its bars before anything else is read, even inside code. */
function inCell(text: string): string {
  return text.replace(/(?<!\\)((?:\\\\)*)\|/g, String.raw`$1\|`);
}

/** More than anybody reads; a job may have several summaries, and together they are bounded. */
const TASKS_SHOWN = 100;

/** The short report that stands on the page of a CI job: how it ended, what waits, and a row a task. */
export function jobSummary(report: RunReport): string {
  const begun = report.tasks.filter(({ steps }) => steps.length > 0);
  const shown = begun.slice(0, TASKS_SHOWN);
  const lines = [
    `## ${plain(`${report.project}: ${title(report)}`)}`,
    "",
    plain(whyInWords(report)),
    "",
    ...figureLines(report),
    ...waitingLines(report, "###"),
    ...(shown.length === 0
      ? ["No task was worked on.", ""]
      : table(["Task", "Title", "Status", "#Iterations", "Last verdict", "Commit"], shown.map(taskRow))),
    ...(begun.length > shown.length ? [`And ${begun.length - shown.length} more.`, ""] : []),
    `Run ${code(report.run.id)}, by ${plain(report.madeBy)}. All of it: ${code("ralph report --html --out report.html")}`,
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function taskRow({ id, title: name, status, steps, acceptance }: TaskReport): readonly string[] {
  const verdicts = steps.flatMap(({ iteration, verdict }) => (iteration === null ? [] : [verdict]));
  const last = verdicts.at(-1) ?? "open";
  return [
    plain(id),
    plain(bounded(name ?? "")),
    plain(status ?? "gone"),
    String(verdicts.length),
    `${MARKS[last]} ${RULINGS[last]}`,
    acceptance?.commit == null ? "" : code(acceptance.commit.slice(0, 8)),
  ];
}
