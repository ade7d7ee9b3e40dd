import { render, useInput, usePaste, type Instance } from "ink";
import type { ReactNode } from "react";
import type { TaskId } from "../core/plan.ts";
import { SECOND_MS } from "../core/time.ts";
import { lookEvery, watchProject, type ScreenPorts, type WatchedProject } from "../app/watch-project.ts";
import { wholeSeconds } from "./plain-line.ts";
import { keysOf } from "./key.ts";
import { initialModel, type Message, type Model, type OwnRun, type Request, type Size } from "./model.ts";
import { MonitorView } from "./monitor-view.tsx";
import { readTranscript } from "./transcript-file.ts";
import { update } from "./update.ts";

export interface MonitorParts {
  readonly screen: ScreenPorts;
  /** Where the transcript of an iteration is; null when there is none. */
  transcript(iteration: number): string | null;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly hasColours: boolean;
  /** The run that was started together with the monitor. */
  readonly ownRun?: OwnRunProcess;
}

export interface OwnRunProcess {
  readonly pid: number;
  /** Its exit code. */
  readonly ended: Promise<number>;
  interrupt(): void;
}

const POLL_MS = 500;
const MINUTE_MS = 60_000;
const EMPTY_SCREEN = "\x1b[2J\x1b[H";

/** Shows the monitor until a person leaves it; answers the exit code. */
export async function runMonitor(parts: MonitorParts): Promise<number> {
  return new RunningMonitor(parts, await watchProject(parts.screen)).untilLeft();
}

class RunningMonitor {
  readonly #parts: MonitorParts;
  readonly #watched: WatchedProject;
  readonly #over = new AbortController();
  #screen: Instance | null = null;
  #model: Model;
  #shown = "";
  #exitCode = 0;

  constructor(parts: MonitorParts, watched: WatchedProject) {
    this.#parts = parts;
    this.#watched = watched;
    const ownRun: OwnRun | null =
      parts.ownRun === undefined ? null : { pid: parts.ownRun.pid, exitCode: null };
    this.#model = initialModel(sizeOf(parts.stdout), watched.overview(), watched.state, ownRun);
  }

  async untilLeft(): Promise<number> {
    const { stdin, stdout, ownRun } = this.#parts;
    const shown = render(this.#frame(), {
      stdin,
      stdout,
      interactive: true,
      alternateScreen: true,
      incrementalRendering: true,
      exitOnCtrlC: false,
      patchConsole: false,
    });
    this.#screen = shown;
    const release = this.#hearOutside(shown);
    void ownRun?.ended.then(async (exitCode) => {
      await this.#look();
      this.hear({ is: "run-ended", exitCode });
    });
    const looking = lookEvery(POLL_MS, this.#over.signal, () => this.#look());
    try {
      await shown.waitUntilExit();
      return this.#exitCode;
    } finally {
      this.#over.abort();
      release();
      await looking;
    }
  }

  readonly hear = (message: Message): void => {
    if (this.#over.signal.aborted) return;
    const { model, requests } = update(this.#model, message);
    if (model !== this.#model) {
      this.#model = model;
      this.#screen?.rerender(this.#frame());
    }
    for (const request of requests) void this.#fulfil(request);
  };

  #frame(): ReactNode {
    const { hasColours } = this.#parts;
    return <Monitor model={this.#model} hasColours={hasColours} hear={this.hear} />;
  }

  /** Whatever ends the process, the terminal is given back first, so that what is said then can be read. */
  #hearOutside(shown: Instance): () => void {
    const { stdout } = this.#parts;
    const onResize = (): void => {
      // A terminal breaks the lines of the old frame anew, so it is not where Ink would look for it.
      shown.clear();
      stdout.write(EMPTY_SCREEN);
      this.hear({ is: "resized", size: sizeOf(stdout) });
    };
    const restore = (): void => shown.unmount();
    stdout.prependListener("resize", onResize);
    process.prependListener("uncaughtException", restore);
    return () => {
      stdout.off("resize", onResize);
      process.off("uncaughtException", restore);
    };
  }

  async #look(): Promise<void> {
    try {
      await this.#watched.catchUp();
      this.#see();
      this.hear({ is: "polled" });
    } catch (error) {
      this.hear({ is: "failed", why: sentence(error) });
    }
  }

  /** A frame is made only when it would be another one. */
  #see(): void {
    const { screen } = this.#parts;
    const { state, driving } = this.#watched;
    const { isDriven, workers } = driving;
    const isTicking = isDriven || this.#model.overview.status.inbox.some(({ deadline }) => deadline !== null);
    const now = screen.now();
    const live = driving.progress.map((one) => ({ ...one, elapsedSeconds: 0 }));
    const often = Math.floor(now / (isTicking ? SECOND_MS : MINUTE_MS));
    const shown = JSON.stringify([state.position, isDriven, live, workers, often]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const overview = this.#watched.overview();
    this.hear({ is: "seen", overview: { ...overview, now: wholeSeconds(overview.now) }, state });
  }

  async #fulfil(request: Request): Promise<void> {
    try {
      const answer = await this.#answerTo(request);
      if (answer !== null) this.hear(answer);
    } catch (error) {
      this.hear({ is: "failed", why: sentence(error) });
    }
  }

  async #answerTo(request: Request): Promise<Message | null> {
    switch (request.want) {
      case "act": {
        const acted = await this.#parts.screen.act(request.act);
        await this.#look();
        return { is: "acted", acted };
      }
      case "open":
        return this.#opened(request.task);
      case "read": {
        const { iteration, unlessSize } = request;
        const transcript = await readTranscript(this.#parts.transcript(iteration), unlessSize);
        return { is: "read", iteration, transcript };
      }
      case "stop-now":
        this.#parts.ownRun?.interrupt();
        return { is: "acted", acted: { is: "done", said: "the run is asked to stop now" } };
      case "quit":
        this.#exitCode = request.exitCode;
        this.#screen?.unmount();
        return null;
    }
  }

  /** The iteration that is under way, or else the last. */
  async #opened(task: TaskId): Promise<Message> {
    const open = this.#watched.state.iterations.find((iteration) => iteration.task === task);
    const log = open === undefined ? await this.#parts.screen.log() : null;
    const begun = (await log?.read(0, { task, types: ["iteration.started"] }))?.at(-1);
    const last = begun?.type === "iteration.started" ? begun : null;
    const worker = open?.worker ?? last?.worker ?? null;
    if (worker !== null && this.#parts.screen.isElsewhere(worker))
      return { is: "failed", why: `its transcript lies on worker ${worker}` };
    return { is: "opened", task, iteration: open?.number ?? last?.iteration ?? null };
  }
}

interface MonitorProps {
  readonly model: Model;
  readonly hasColours: boolean;
  readonly hear: (message: Message) => void;
}

function Monitor({ model, hasColours, hear }: MonitorProps): ReactNode {
  useInput((input, typed) => {
    for (const key of keysOf(input, typed)) hear({ is: "key", key });
  });
  usePaste((text) => hear({ is: "pasted", text }));
  return <MonitorView model={model} hasColours={hasColours} />;
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns: columns || 80, rows: rows || 24 };
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
