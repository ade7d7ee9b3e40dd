import { formatDuration } from "../../core/duration.ts";
import { isoTime, type Instant } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { Follower, Progress } from "../../engine/ports.ts";
import { LiveLine } from "./live-line.ts";
import { RunLines } from "./run-lines.ts";
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
  const told = new RunLines(style);
  const { lanes } = told;
  return {
    follow: (event, state) => {
      const lines = told.of(event, state);
      if (event.type === "iteration.ended") write(lanes.rest(event.iteration));
      for (const line of lines) if (line !== "") write(`${isoTime(event.at).slice(11, 19)} ${line}\n`);
      return Promise.resolve();
    },
    progress: () => {},
    output: (text, iteration) => write(lanes.quoted(text, iteration)),
    rest: () => {},
  };
}

/** For a terminal: lasting lines, and one that is rewritten while the agent works. */
export function terminalPrinter(stream: NodeJS.WriteStream, style: Style): RunPrinter {
  const live = new LiveLine(stream, style);
  const told = new RunLines(style);
  const { lanes } = told;
  const follow: RunPrinter["follow"] = (event, state) => {
    const lines = told.of(event, state);
    if (event.type === "verdict.reached" || event.type === "run.ended") live.stop();
    live.clear();
    const rest = event.type === "iteration.ended" ? lanes.rest(event.iteration) : "";
    if (rest !== "") stream.write(style.dim(rest));
    for (const line of lines) stream.write(`${line}\n`);
    if (event.type === "iteration.started") live.show("starting");
    if (event.type === "wait.started") live.show(() => countdown(event.until));
    if (event.type === "evidence.collected") live.show("checking");
    return Promise.resolve();
  };
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

function countdown(until: Instant): string {
  return `${formatDuration(Math.max(0, until - Date.now()))} left · r: try now`;
}

export function progressText(progress: Progress): string {
  const time = `${formatDuration(progress.elapsedMs)} / ${formatDuration(progress.timeoutMs)}`;
  const calls = progress.toolCalls > 0 ? ` · ${progress.toolCalls} tool calls` : "";
  return `${time}${calls}  ${progress.lastLine}`;
}
