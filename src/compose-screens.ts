import { statSync } from "node:fs";
import { basename } from "node:path";
import { transcriptFile } from "./adapters/files/iteration-texts.ts";
import { progressIn, readProgress } from "./adapters/files/progress-file.ts";
import type { Project } from "./compose-project.ts";
import { allSecretsOf, driverOf, openLog, ownWorkerId, workersOf } from "./compose-store.ts";
import { createRedactor } from "./core/redact.ts";
import { drivenByWorkers, type Driving, type ScreenPorts } from "./engine/watch-project.ts";
import type { Log } from "./engine/ports.ts";

export interface ScreenParts {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  readonly mayAct: boolean;
  readonly lines: ScreenPorts["lines"];
}

export interface Screen {
  readonly ports: ScreenPorts;
  close(): Promise<void>;
}

/** What a screen looks at. It creates nothing: the log is opened when a run has made one. */
export function openScreen({ project, env, mayAct, lines }: ScreenParts): Screen {
  const log = new CurrentLog(project, env);
  return {
    ports: {
      project: basename(project.root),
      mayAct,
      log: () => log.get(),
      driving: project.queue === null ? async () => drivenHere(project) : lookedAtRarely(project),
      lines,
      now: Date.now,
    },
    close: () => log.close(),
  };
}

/** The file with what an agent printed; null when there is none, or it lies on the machine of another worker. */
export function transcriptOf(project: Project, iteration: number, worker?: string): string | null {
  const file = transcriptFile(project.ralphDir, iteration);
  return file === null || isElsewhere(project, worker) ? null : file;
}

/** A file of the same name may be of a run that this machine made alone. */
export function isElsewhere(project: Project, worker: string | undefined): boolean {
  return worker !== undefined && worker !== ownWorkerId(project);
}

/** The project's log, for as long as it is the project's. */
class CurrentLog {
  readonly #project: Project;
  readonly #env: NodeJS.ProcessEnv;
  #log: Promise<Log> | null = null;
  #place: string | null = null;

  constructor(project: Project, env: NodeJS.ProcessEnv) {
    this.#project = project;
    this.#env = env;
  }

  async get(): Promise<Log | null> {
    const there = this.#placeNow();
    if (there === this.#place) return this.#log;
    // It was removed, or set aside for another: what is still open is no longer the project's.
    void this.close();
    if (there === null) return null;
    const opening = this.#open();
    this.#log = opening;
    this.#place = this.#placeNow();
    // Whoever asks next tries again.
    opening.catch(() => this.#forget(opening));
    return opening;
  }

  async close(): Promise<void> {
    const log = this.#log;
    this.#forget(log);
    await log?.then(
      (opened) => opened.close(),
      () => {},
    );
  }

  #forget(log: Promise<Log> | null): void {
    if (this.#log !== log) return;
    this.#log = null;
    this.#place = null;
  }

  async #open(): Promise<Log> {
    const { root, queue } = this.#project;
    if (queue === null) return (await openLog(this.#project, this.#env)).log;
    const { openWatchedLog } = await import("./compose-shared.ts");
    return openWatchedLog(root, queue, createRedactor(await allSecretsOf(this.#project, this.#env)));
  }

  /** Of the file itself, whatever its name; null when there is none. */
  #placeNow(): string | null {
    if (this.#project.queue !== null) return "shared";
    const stats = statSync(this.#project.stateFile, { throwIfNoEntry: false });
    return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
  }
}

function drivenHere(project: Project): Driving {
  return {
    isDriven: driverOf(project) !== null,
    progress: readProgress(project.ralphDir),
    workers: null,
  };
}

/** Workers report every few seconds. */
const LOOK_MS = 1_000;

function lookedAtRarely(project: Project): () => Promise<Driving> {
  let last: { readonly at: number; readonly driving: Promise<Driving> } | null = null;
  return () => {
    const now = performance.now();
    if (last !== null && now - last.at < LOOK_MS) return last.driving;
    const driving = workersOf(project).then((seen) => drivenByWorkers(seen ?? [], progressIn));
    last = { at: now, driving };
    return driving;
  };
}
