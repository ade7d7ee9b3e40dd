import { formatDuration } from "../../duration.ts";
import { asSentence, count } from "../../projections/explain-words.ts";
import type { RunReport } from "../run-report.ts";
import { bounded, costInWords, moment, money, title, whyInWords } from "../words.ts";
import { costLines, interventionLines, iterationLines, timelineLines } from "./markdown-numbers.ts";
import { taskLines } from "./markdown-tasks.ts";
import { code, plain, table } from "./markdown-text.ts";

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

const WHAT = { question: "asks", blocked: "is blocked", merge: "cannot be merged" } as const;

export function waitingLines(
  { waiting, next, isLatest }: RunReport,
  heading: "##" | "###" = "##",
): readonly string[] {
  const items = waiting.flatMap(({ task, is, text, more, command }) => [
    `- **${plain(task)}** ${WHAT[is]}: ${plain(more === "" ? bounded(text) : `${asSentence(bounded(text))} ${bounded(more)}`)}`,
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
