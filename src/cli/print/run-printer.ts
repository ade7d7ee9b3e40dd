import type { Recorded } from "../../core/events.ts";
import { formatDuration } from "../../core/duration.ts";
import type { State } from "../../core/loop/state.ts";
import { extendRecord, type IterationRecord } from "../../core/projections/iteration-record.ts";
import { isoTime, type Instant } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { Follower, Progress } from "../../engine/ports.ts";
import { eventLines } from "./event-lines.ts";
import { LanePrefixes } from "./lane-prefixes.ts";
import { LiveLine } from "./live-line.ts";
import type { Style } from "./style.ts";

/** Shows a run while it happens. */
export interface RunPrinter extends Follower {
  progress(progress: Progress): void;
  /** What the agent prints, when the person wants to see it. */
  output(text: string, iteration: number): void;
  /** Before anything else is printed, and at the end. */
  rest(): void;
}

export type Write = (text: string) => void;

/** `--json`: every event on a line of its own. */
export function jsonPrinter(write: Write): RunPrinter {
  return {
    follow: (event) => {
      write(`${JSON.stringify(toWire(event))}\n`);
      return Promise.resolve();
    },
    progress: () => {},
    output: () => {},
    rest: () => {},
  };
}

export function quietPrinter(): RunPrinter {
  return { follow: () => Promise.resolve(), progress: () => {}, output: () => {}, rest: () => {} };
}

/** For a file or a pipe: one plain line per fact, with the time. */
export function plainPrinter(write: Write, style: Style): RunPrinter {
  const lanes = new LanePrefixes();
  return {
    follow: lineFollower(style, lanes, (lines, event) => {
      if (event.type === "iteration.ended") write(lanes.rest(event.iteration));
      for (const line of lines) if (line !== "") write(`${isoTime(event.at).slice(11, 19)} ${line}\n`);
    }),
    progress: () => {},
    output: (text, iteration) => write(lanes.quoted(text, iteration)),
    rest: () => {},
  };
}

/** For a terminal: lasting lines, and one that is rewritten while the agent works. */
export function terminalPrinter(stream: NodeJS.WriteStream, style: Style): RunPrinter {
  const live = new LiveLine(stream, style);
  const lanes = new LanePrefixes();
  const follow = lineFollower(style, lanes, (text, event) => {
    if (event.type === "verdict.reached" || event.type === "run.ended") live.stop();
    live.clear();
    const rest = event.type === "iteration.ended" ? lanes.rest(event.iteration) : "";
    if (rest !== "") stream.write(style.dim(rest));
    for (const line of text) stream.write(`${line}\n`);
    if (event.type === "iteration.started") live.show("starting");
    if (event.type === "wait.started") live.show(() => countdown(event.until));
    if (event.type === "evidence.collected") live.show("checking");
  });
  return {
    follow,
    progress: (progress) => live.show(`${lanes.of(progress.task)}${progressText(progress)}`),
    output: (text, iteration) => {
      live.clear();
      stream.write(style.dim(lanes.quoted(text, iteration)));
    },
    rest: () => live.stop(),
  };
}

function lineFollower(
  style: Style,
  lanes: LanePrefixes,
  print: (lines: readonly string[], event: Recorded) => void,
): RunPrinter["follow"] {
  const open = new Map<number, IterationRecord>();
  let begun: string | null = null;
  return (event: Recorded, state: State) => {
    const record = "iteration" in event ? extendRecord(open.get(event.iteration), event) : undefined;
    if (record !== undefined) open.set(record.iteration, record);
    lanes.see(event, state);
    const prefix = "task" in event && event.task !== null ? lanes.of(event.task) : "";
    // Every merge brings its mark, and nothing new.
    const isKnown = event.type === "tasks.observed" && event.run === begun && hasWorktrees(state);
    if (event.type === "tasks.observed") begun = event.run;
    print(isKnown ? [] : eventLines(event, state, record, style, prefix), event);
    if (event.type === "verdict.reached") open.delete(event.iteration);
    return Promise.resolve();
  };
}

function hasWorktrees({ run }: State): boolean {
  return run?.settings.worktrees != null;
}

function countdown(until: Instant): string {
  return `${formatDuration(Math.max(0, until - Date.now()))} left · r: try now`;
}

export function progressText(progress: Progress): string {
  const time = `${formatDuration(progress.elapsedMs)} / ${formatDuration(progress.timeoutMs)}`;
  const calls = progress.toolCalls > 0 ? ` · ${progress.toolCalls} tool calls` : "";
  return `${time}${calls}  ${progress.lastLine}`;
}
