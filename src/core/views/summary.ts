import type { Recorded } from "../events.ts";
import { dollars } from "../loop/brakes.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import { type State, taskState } from "../state.ts";
import { statusOf, tasksInScope, whyBlocked } from "../loop/task-status.ts";
import type { Plan, Task, TaskId } from "../plan.ts";
import { elapsedMs, formatDuration, type Instant, isoTime } from "../time.ts";
import { openProposals } from "./inbox.ts";
import { OUTCOME_WORDS } from "./signs.ts";
import { costOf, type IterationRecord, iterationRecords } from "./iteration-record.ts";

/** The lines printed at the end of a run. */
export function runSummary(state: State, logPath: string, now: Instant): readonly string[] {
  const { run, plan } = state;
  if (run === null || run.end === null) return [];
  const tasks = plan === null ? [] : tasksInScope(run, plan);
  const done = tasks.filter((task) => statusOf(state, task) === "done").length;
  const duration = elapsedMs(run.startedAt, run.end?.at ?? now);
  const average = run.iterations === 0 ? "–" : formatDuration(duration / run.iterations);
  return [
    "Ralph Loop Summary",
    "──────────────────",
    `Exit:        ${OUTCOME_WORDS[run.end.outcome].summary} (code ${EXIT_CODES[run.end.outcome]})`,
    `Iterations:  ${run.iterations} / ${run.settings.limits.maxIterations}`,
    `Duration:    ${formatDuration(duration)}`,
    `Stories:     ${done}/${tasks.length} complete`,
    `Avg/iter:    ${average}`,
    `Stuck iters: ${run.stuckIterations}`,
    `Cost:        ${run.spend.usd === null ? "unknown" : dollars(run.spend.usd)}`,
    `Log:         ${logPath}`,
    ...proposalLine(openProposals(state).length),
  ];
}

function proposalLine(count: number): readonly string[] {
  const edits =
    count === 1 ? "1 edit of the task list by an agent" : `${count} edits of the task list by agents`;
  return count === 0 ? [] : [`Proposals:   ${edits}, undone; see: ralph tasks proposals`];
}

/** A list of tasks at the moment at which it is put away. */
export interface ArchivedList {
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
  const records = recordsOf(list);
  return [
    `# ${oneLine(list.label)}`,
    "",
    ...facts(list, records),
    ...tasks(list, records),
    ...runs(list, records),
    ...section(
      "Files",
      list.files.map(({ name, from }) => `- ${name}, from ${from}`),
    ),
    "",
  ].join("\n");
}

/** The list's own iterations. A task that was reset began anew, so an earlier list's of the same id are left out. */
function recordsOf({ plan, events }: ArchivedList): readonly IterationRecord[] {
  const began = new Map<TaskId, number>((plan?.tasks ?? []).map(({ id }) => [id, 0]));
  for (const event of events) {
    if (event.type === "task.reset" && began.has(event.task)) began.set(event.task, event.position);
  }
  const own = events.filter(
    (event) => "iteration" in event && event.position > (began.get(event.task) ?? Infinity),
  );
  return iterationRecords(own);
}

function facts(list: ArchivedList, records: readonly IterationRecord[]): readonly string[] {
  const { plan, state, source } = list;
  const all = plan?.tasks ?? [];
  const done = all.filter((task) => statusOf(state, task) === "done").length;
  return [
    `- Project: ${oneLine(list.project)}`,
    `- Tasks from: ${source === null ? "nowhere, there was no task source" : oneLine(source)}`,
    `- Archived: ${isoTime(list.at)}`,
    plan === null ? `- Tasks: unknown${problemOf(list)}` : `- Tasks: ${done} of ${all.length} done`,
    `- Iterations: ${records.length}${range(records)}`,
    `- Runs: ${new Set(records.map(({ run }) => run)).size}`,
    `- Cost: ${costInWords(records)}`,
  ];
}

function problemOf({ problem }: ArchivedList): string {
  return problem === null ? "" : `, since they could not be read: ${oneLine(problem)}`;
}

function range(records: readonly IterationRecord[]): string {
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return "";
  return first === last ? ` (${first.iteration})` : ` (${first.iteration} to ${last.iteration})`;
}

function costInWords(records: readonly IterationRecord[]): string {
  const costs = records.flatMap((record) => costOf(record) ?? []);
  return costs.length === 0 ? "unknown" : `$${costs.reduce((sum, cost) => sum + cost, 0).toFixed(2)}`;
}

function tasks({ plan, state }: ArchivedList, records: readonly IterationRecord[]): readonly string[] {
  const rows = (plan?.tasks ?? []).map((task) =>
    row([
      task.id,
      task.title,
      statusInWords(state, task),
      String(records.filter((record) => record.task === task.id).length),
      taskState(state, task.id).completion?.commit ?? "–",
    ]),
  );
  return section("Tasks", table(["Task", "Title", "Status", "Iterations", "Commit"], rows));
}

function statusInWords(state: State, task: Task): string {
  const status = statusOf(state, task);
  const { question } = taskState(state, task.id);
  if (status === "blocked") return `blocked: ${whyBlocked(taskState(state, task.id)) ?? ""}`;
  return status === "undecided" ? `undecided: ${question?.text ?? ""}` : status;
}

function runs({ events }: ArchivedList, records: readonly IterationRecord[]): readonly string[] {
  const ids = [...new Set(records.map(({ run }) => run))];
  const rows = ids.map((id) => {
    const own = records.filter(({ run }) => run === id);
    const began = events.find((event) => event.type === "run.started" && event.run === id);
    const end = events.findLast((event) => event.type === "run.ended" && event.run === id);
    const how =
      end?.type === "run.ended"
        ? `${end.outcome} (code ${EXIT_CODES[end.outcome]}): ${end.reason}`
        : "its process died";
    return row([began === undefined ? "–" : isoTime(began.at), String(own.length), how]);
  });
  return section("Runs", table(["Started", "Iterations", "Ended as"], rows));
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
}

function table(head: readonly string[], rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : [row(head), row(head.map(() => "---")), ...rows];
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => oneLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
