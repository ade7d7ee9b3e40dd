import type { RunReport } from "../run-report.ts";
import type { TaskReport } from "../task-report.ts";
import { bounded, MARKS, RULINGS, title, whyInWords } from "../words.ts";
import { figureLines, waitingLines } from "./markdown-report.ts";
import { code, plain, table } from "./markdown-text.ts";

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
