import { openProject } from "../../app/project.ts";
import { statusJson, statusNow } from "../../app/project-log.ts";
import { TASK_SIGNS } from "../../core/views/signs.ts";
import type { Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { columns } from "../print/style.ts";
import type { Style } from "../../core/text.ts";
import { dollars } from "../../core/loop/brakes.ts";
import { BUILD } from "../../core/loop/stages.ts";
import {
  type Status,
  type TaskRow,
  activeLoops,
  loopEntry,
  type Loop,
  isAtWork,
  workerInWords,
  type WorkerRow,
} from "../../core/views/status.ts";
import { type Instant, formatDuration } from "../../core/time.ts";

export function define(command: Command, act: Act): void {
  command.option("--json", "print JSON").option("--loops", "only the loops that run now").action(act(status));
}

async function status(context: CliContext, flags: { loops?: boolean }): Promise<number> {
  const { style } = context;
  const now = Date.now();
  const found = await statusNow(await openProject(context), now);
  const { state, isDriven, workers, status: shown } = found;
  if (flags.loops === true) {
    const loops = isDriven ? activeLoops(state) : [];
    return tell(context, loops.map(loopEntry), () => loopLines(loops, now));
  }
  return tell(context, statusJson(found), () => [
    ...statusLines(shown, workers !== null, style),
    ...workerLines(workers, now, style),
  ]);
}

function statusLines(status: Status, isShared: boolean, style: Style): readonly string[] {
  const { run, calls, breaker } = status;
  if (run === null && isShared)
    return ["Nothing was submitted to the queue yet.", "Put tasks into it: ralph submit"];
  if (run === null)
    return ["No run yet in this repository.", `Start one: ralph run "what you want" --check "npm test"`];
  const limit = calls.limit === null ? "" : ` / ${calls.limit}`;
  const next = breaker.state === "OPEN" ? "; let it try again: ralph reset --circuit" : "";
  return [
    runLine(run, isShared, style),
    `iterations ${run.iterations} / ${run.max_iterations} · without progress ${run.stuck_count} · cost ${costInWords(status.cost)}`,
    `calls this hour ${calls.used ?? "unknown"}${limit} · breaker ${breaker.state}`,
    ...(breaker.state === "CLOSED" ? [] : [style.bad(`breaker ${breaker.state}: ${breaker.reason}${next}`)]),
    "",
    ...status.tasks.map((task) => taskLine(task, style)),
    ...status.inbox.flatMap((item) => [
      "",
      style.ask(`${item.task} waits for you (${item.kind}): ${item.text}`),
    ]),
    ...messageLines(status.messages),
    ...(run.interrupted && !isShared ? ["", "The run was interrupted. It goes on with: ralph run"] : []),
  ];
}

function workerLines(workers: readonly WorkerRow[] | null, now: Instant, style: Style): readonly string[] {
  if (workers === null) return [];
  const rows = workers.map((worker) => [
    worker.id,
    worker.host,
    worker.lanes === 1 ? "1 lane" : `${worker.lanes} lanes`,
    workerInWords(worker, now),
  ]);
  const lines = columns(rows).map((line, at) => (workers[at]?.is === "vanished" ? style.bad(line) : line));
  const nobody = workers.some(isAtWork) ? [] : ["No worker is here. Start one: ralph worker"];
  return ["", ...lines, ...nobody];
}

function messageLines(messages: Status["messages"]): readonly string[] {
  if (messages.length === 0) return [];
  const lines = messages.map(({ task, text, state }) => {
    const where = state === "working" ? "an agent works with it" : "waits for the next prompt";
    return `message for ${task ?? "whatever comes next"}: ${text}  (${where})`;
  });
  return ["", ...lines];
}

function runLine(run: NonNullable<Status["run"]>, isShared: boolean, style: Style): string {
  if (run.interrupted) return style.bad(isShared ? "no worker is here" : "interrupted: its process is gone");
  if (run.state === "ended")
    return `${style.bold(`ended: ${run.outcome}`)} (code ${run.exit_code}) · ${run.reason}`;
  const isForPerson = run.state === "waiting" && run.waiting_until === null;
  const waiting = isForPerson ? " for you" : run.waiting_until === null ? "" : ` until ${run.waiting_until}`;
  return style.bold(`${run.state}${waiting}${isShared ? "" : ` (pid ${run.pid})`}`);
}

function costInWords({ usd, budget_usd: budget, forecast_usd: forecast }: Status["cost"]): string {
  if (usd === null) return "unknown";
  const of = budget === null ? "" : ` of ${dollars(budget)}`;
  const ahead = forecast === null ? "" : ` (all tasks: about ${dollars(forecast)})`;
  return `${dollars(usd)}${of}${ahead}`;
}

function taskLine(task: TaskRow, style: Style): string {
  const { sign } = TASK_SIGNS[task.status];
  const count = task.status === "done" ? "" : style.dim(`  ${loopInWords(task)}`);
  const reason = task.status === "done" ? null : (task.blocked_reason ?? task.failure?.reason ?? null);
  const why = reason === null ? "" : style.dim(`  ${reason}`);
  return `${sign} ${task.id}  ${task.title}  ${style.dim(task.status)}${count}${why}`;
}

/** Its stage in a pipeline, how far its loop is, and what an iteration may take and why so. */
function loopInWords(task: TaskRow): string {
  const { stage, iteration, max_iterations: most, timeout_seconds: seconds, timeout_from: from } = task;
  const isOpen = task.status === "todo" || task.status === "doing";
  return [
    ...(stage === BUILD.name ? [] : [stage]),
    `${iteration}/${most}`,
    ...(isOpen && seconds !== null ? [`${formatDuration(seconds * 1_000)} each (${from})`] : []),
  ].join(" · ");
}

const MINUTE_MS = 60_000;

/** What `ralph ralph-status` prints. */
export function loopLines(loops: readonly Loop[], now: Instant): readonly string[] {
  const lines = loops.map(
    ({ task, stage, iteration, maxIterations, startedAt }) =>
      `  ${task} (${stage}): iteration ${iteration}/${maxIterations}, started ${since(startedAt, now)} ago`,
  );
  return ["Active Ralph Loops:", ...(lines.length === 0 ? ["  none"] : lines)];
}

/** In whole minutes; of a loop that is younger, in seconds. */
function since(start: Instant, now: Instant): string {
  const unit = now - start < MINUTE_MS ? 1_000 : MINUTE_MS;
  return formatDuration(Math.max(0, Math.floor((now - start) / unit)) * unit);
}
