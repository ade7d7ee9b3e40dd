import { count } from "../../projections/explain-words.ts";
import { certificateFacts } from "../certificate-facts.ts";
import type { RunReport } from "../run-report.ts";
import type { TaskReport } from "../task-report.ts";
import { bounded, MARKS, RULINGS } from "../words.ts";
import { code, plain, table } from "./markdown-text.ts";

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
          certificateFacts(acceptance).map(({ name, value, isExact }) => [
            name,
            isExact ? code(bounded(value)) : plain(bounded(value)),
          ]),
        )),
  ];
}
