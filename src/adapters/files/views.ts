import { projectActive, IterationRows, rowsOf, SUMMARY_HEADER } from "../../core/views/ralph-files.ts";
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { Recorded } from "../../core/events.ts";
import { hourOf } from "../../core/loop/brakes.ts";
import { isOpen, type State } from "../../core/state.ts";
import { projectStatus, type Shared, type Status } from "../../core/views/status.ts";
import { isoTime } from "../../core/time.ts";
import type { Follower, Log, Progress } from "../../engine/ports.ts";
import { fileError, writeFileAtomically } from "../process/atomic-file.ts";
import { LateWriter } from "./late-writer.ts";
import { PROGRESS, progressDocument } from "./progress-file.ts";
import { prepareRalphFolder, ViewFiles } from "./ralph-folder.ts";

const SUMMARY = "logs/summary.csv";
const EXECUTION = "logs/execution.jsonl";
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
/** Whatever an agent puts in the file's place between a look and the opening. */
const NEVER_ELSEWHERE = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/** The files under `.ralph/` that scripts and people read, kept in step with the log. */
export class Views implements Follower {
  readonly #folder: string;
  readonly #files: ViewFiles;
  #shared: Shared | null = null;
  readonly #log: Log;
  readonly #running = new Map<number, Progress>();
  readonly #rows = new IterationRows();
  readonly #late = new LateWriter((state) => this.#writeCurrent(state));

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#files = new ViewFiles(folder);
    this.#log = log;
  }

  /** Makes again what is gone or behind: a process may have died between a fact and its row. */
  async restore(state: State): Promise<void> {
    const { judged } = state;
    const rows = this.#lines(SUMMARY) - 1;
    const records = this.#lines(EXECUTION);
    if (Math.max(rows, 0) !== judged || records !== judged)
      await this.#rebuild(Math.max(rows, records) > judged);
    for (const { number } of state.iterations) {
      for (const event of await this.#log.read(0, { iteration: number })) this.#rows.remember(event);
    }
    await this.#countCalls();
    this.#writeCurrent(state);
  }

  async #countCalls(): Promise<void> {
    const now = Date.now();
    this.#shared = { calls: await this.#log.countCalls(hourOf(now).since), now };
  }

  /** The process drives no run any longer, however that came about. */
  rest(): void {
    this.#late.rest();
    for (const file of ["active.json", PROGRESS]) rmSync(this.#path(file), { force: true });
  }

  progress(progress: Progress): void {
    this.#running.set(progress.iteration, progress);
    this.#files.putJson(PROGRESS, progressDocument([...this.#running.values()], progress));
  }

  async follow(event: Recorded, state: State): Promise<void> {
    if (event.type === "iteration.started" || event.type === "calls.exhausted") await this.#countCalls();
    // A second reader comes after the end.
    if (event.type === "iteration.ended" || event.type === "verdict.reached")
      this.#running.delete(event.iteration);
    // The hooks of the agent that starts now go by it.
    if (event.type === "iteration.started" && hasStories(state)) this.#writeActive(state);
    if (this.#rows.follow(event, state) && this.#isGone(state)) {
      this.#rows.take();
      await this.#rebuild(false);
    }
  }

  async settle(state: State): Promise<void> {
    for (const { summary, execution } of this.#rows.take()) {
      this.#appendRow(SUMMARY, summary, SUMMARY_HEADER);
      this.#appendRow(EXECUTION, execution);
    }
    this.#late.settle(state);
  }

  /** An agent may well have cleaned up; then the row that is due comes with all the earlier ones. */
  #isGone(state: State): boolean {
    if (![".gitignore", "logs"].every((name) => existsSync(this.#path(name))))
      prepareRalphFolder(this.#folder);
    const isFirst = state.judged <= 1;
    return !isFirst && [SUMMARY, EXECUTION].some((file) => !isPlainFile(this.#path(file)));
  }

  /** Rows of a log that is no longer there are kept beside the new file. */
  async #rebuild(hasForeignRows: boolean): Promise<void> {
    const rows = rowsOf(await this.#log.read(0));
    if (hasForeignRows) this.#setAside();
    if (rows.length === 0) return;
    const summary = [SUMMARY_HEADER, ...rows.map((row) => row.summary)];
    writeFileAtomically(this.#path(SUMMARY), `${summary.join("\n")}\n`);
    writeFileAtomically(this.#path(EXECUTION), `${rows.map((row) => row.execution).join("\n")}\n`);
  }

  #setAside(): void {
    for (const file of [SUMMARY, EXECUTION]) {
      const path = this.#path(file);
      if (existsSync(path)) renameSync(path, `${path}.before-${isoTime(Date.now()).replaceAll(":", "-")}`);
    }
  }

  #writeCurrent(state: State): void {
    this.#files.putJson("status.json", projectStatus(state, true, this.#shared));
    if (!isOpen(state.run)) return this.rest();
    this.#writeActive(state);
  }

  #writeActive(state: State): void {
    const active = projectActive(state);
    if (active !== null) this.#files.putJson("active.json", active);
  }

  #appendRow(file: string, row: string, header?: string): void {
    const path = this.#path(file);
    try {
      if (!isPlainFile(path)) rmSync(path, { recursive: true, force: true });
      const start = header !== undefined && !existsSync(path) ? `${header}\n` : "";
      const file = openSync(path, NEVER_ELSEWHERE, 0o600);
      try {
        appendFileSync(file, `${start}${row}\n`);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw fileError(error, path);
    }
  }

  #lines(name: string): number {
    const path = this.#path(name);
    return isPlainFile(path) ? countLines(path) : 0;
  }

  #path(file: string): string {
    return join(this.#folder, file);
  }
}

function hasStories({ run }: State): boolean {
  return run?.settings.source.kind === "tasks-json";
}

/** A link could lead outside the repository, and a pipe would wait for ever. */
function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** How many lines of a file are whole. */
export function countLines(path: string): number {
  return readFileSync(path, "latin1").split("\n").length - 1;
}

/** `status.json` as it is after something was recorded outside of a run. */
export function writeStatusFile(folder: string, status: Status): void {
  new ViewFiles(folder).putJson("status.json", status);
}
