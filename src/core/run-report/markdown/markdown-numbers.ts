import { formatDuration } from "../../duration.ts";
import type { RunReport } from "../run-report.ts";
import { bounded, costInWords, MARKS, money, RULINGS, SPANS, timeOfDay } from "../words.ts";
import { plain, table } from "./markdown-text.ts";

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
