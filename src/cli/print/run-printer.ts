import { laneRows } from "../../core/views/overview.ts";
import type { CliContext } from "../commands.ts";
import { REWRITE } from "./style.ts";
import { RunLines } from "../../core/views/run-lines.ts";
import type { Style } from "../../core/text.ts";
import { isoTime, type Instant, formatDuration } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { RunDisplay } from "../../app/drive-run.ts";
import type { Progress } from "../../engine/ports.ts";

/** Shows a run while it happens, and what the agent prints when the person wants to see it. */
export type RunPrinter = RunDisplay & Required<Pick<RunDisplay, "output">>;

type Write = (text: string) => void;

/** `--json`: every event on a line of its own. */
export function jsonPrinter(write: Write): RunPrinter {
  return {
    ...SILENT,
    follow: (event) => {
      write(`${JSON.stringify(toWire(event))}\n`);
      return Promise.resolve();
    },
  };
}

const SILENT: RunPrinter = {
  follow: () => Promise.resolve(),
  progress: () => {},
  output: () => {},
  rest: () => {},
};

/** For a file or a pipe: one plain line per fact, with the time. */
export function plainPrinter(write: Write, style: Style): RunPrinter {
  const told = new RunLines(style);
  const { lanes } = told;
  return {
    ...SILENT,
    follow: (event, state) => {
      const lines = told.of(event, state);
      if (event.type === "iteration.ended") write(lanes.rest(event.iteration));
      for (const line of lines) if (line !== "") write(`${isoTime(event.at).slice(11, 19)} ${line}\n`);
      return Promise.resolve();
    },
    output: (text, iteration) => write(lanes.quoted(text, iteration)),
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
    // Who is asked next about an iteration that has ended.
    const iteration = "iteration" in event ? event.iteration : null;
    const lane = laneRows(state).find(({ work }) => work !== null && work.iteration === iteration);
    if (lane?.work?.says) live.show(lane.work.says);
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

function countdown(until: Instant | null): string {
  if (until === null) return "waiting for you · Ctrl-C ends the run";
  return `${formatDuration(Math.max(0, until - Date.now()))} left · r: try now`;
}

export function progressText(progress: Progress): string {
  const time = `${formatDuration(progress.elapsedMs)} / ${formatDuration(progress.timeoutMs)}`;
  const calls = progress.toolCalls > 0 ? ` · ${progress.toolCalls} tool calls` : "";
  return `${time}${calls}  ${progress.lastLine}`;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;

/** One line at the bottom of a terminal that is rewritten in place while an iteration runs. */
export class LiveLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: Style;
  #text: string | (() => string) | null = null;
  #frame = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: NodeJS.WriteStream, style: Style) {
    this.#stream = stream;
    this.#style = style;
  }

  /** Plain text, or what tells it anew each time: it is cut to the width of the terminal before it is coloured. */
  show(text: string | (() => string)): void {
    this.#text = text;
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    this.#draw();
  }

  /** Takes the line away, so that something lasting can be printed in its place. */
  clear(): void {
    if (this.#text !== null) this.#stream.write(REWRITE);
  }

  stop(): void {
    this.clear();
    this.#text = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #draw(): void {
    if (this.#text === null) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = typeof this.#text === "string" ? this.#text : this.#text();
    const line = `  ${FRAMES[this.#frame]} ${text}`;
    const width = (this.#stream.columns || 80) - 1; // some terminals say 0
    this.#stream.write(`${REWRITE}${this.#style.dim(clip(line, width))}`);
  }
}

/** Made when the first line is drawn: it is slow, and only a terminal needs it. */
let characters: Intl.Segmenter | null = null;

function clip(text: string, width: number): string {
  characters ??= new Intl.Segmenter();
  return Array.from(characters.segment(text), ({ segment }) => segment)
    .slice(0, width)
    .join("");
}

/** How a command shows a run: as data, not at all, to a person in front of it, or to one who reads it later. */
export function printerFor({ stdout, style, json }: CliContext, isQuiet = false): RunPrinter {
  if (json) return jsonPrinter((text) => stdout.write(text));
  if (isQuiet) return SILENT;
  return stdout.isTTY ? terminalPrinter(stdout, style) : plainPrinter((text) => stdout.write(text), style);
}
