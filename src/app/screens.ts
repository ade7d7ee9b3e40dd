import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { TranscriptFile } from "../adapters/files/read-entries.ts";
import { createIterationTexts, transcriptFile } from "../adapters/files/iteration-texts.ts";
import { progressIn, readProgress } from "../adapters/files/progress-file.ts";
import { openRepository } from "../adapters/git/find-repository.ts";
import { readDiff } from "../adapters/git/workspace/read-diff.ts";
import { PLAIN } from "../core/text.ts";
import { RunLines } from "../core/views/run-lines.ts";
import type { Log } from "../engine/ports.ts";
import type { AllPorts } from "../web/all-projects.ts";
import type { ProjectEntry } from "../web/api.ts";
import type { WebPorts } from "../web/web-ports.ts";
import { type KnownProject, knownProjects } from "./known-projects.ts";
import { act } from "./operator.ts";
import {
  type Caller,
  driverOf,
  openProject,
  OWN_ROOT,
  ownWorkerId,
  type Project,
  readConfig,
  redactorOf,
  requirePerson,
  workersOf,
} from "./project.ts";
import { openLog, statusNow } from "./project-log.ts";
import { taskWork } from "./take-back.ts";
import { drivenByWorkers, type Driving, type ScreenPorts } from "./watch-project.ts";

export interface Screen<Ports extends ScreenPorts = ScreenPorts> {
  readonly ports: Ports;
  close(): Promise<void>;
}

/** What a screen looks at. It creates nothing: the log is opened when a run has made one. */
export function openScreen(project: Project, mayAct: boolean): Screen {
  const log = new CurrentLog(project);
  const told = new RunLines(PLAIN);
  return {
    ports: {
      project: basename(project.root),
      mayAct,
      log: () => log.get(),
      driving: project.queue === null ? drivenHere(project) : lookedAtRarely(project),
      lines: (event, state) => told.of(event, state),
      now: Date.now,
      act: async (wanted) => act(project, wanted, { log: await log.get() }),
      isElsewhere: (worker) => isElsewhere(project, worker),
    },
    close: () => log.close(),
  };
}

/** What the server of the page looks at, without the secrets of the environment and the configuration. */
export async function openWebScreen(project: Project, mayAct: boolean): Promise<Screen<WebPorts>> {
  const screen = openScreen(project, mayAct);
  const redact = await redactorOf(project);
  return {
    ...screen,
    ports: {
      ...screen.ports,
      texts: createIterationTexts(project.ralphDir, redact, project.root),
      diff: async (commits) => readDiff((await openRepository(project.root)).git, commits, redact),
      work: (state, task) => taskWork(project, state, task),
      planRun: async (wish) => (await import("./run-process.ts")).planWish(project, wish),
      startRun: async (wish) => (await import("./run-process.ts")).startWish(project, wish),
      addTask: async (title) => {
        const { addTask, sourceRequest } = await import("./task-lists.ts");
        const request = sourceRequest(project, await readConfig(project));
        const { id, path } = await addTask(project, request, title);
        return `${id} is in ${path}; the next look of a run takes it up`;
      },
      retitleTask: async (task, title) => {
        const { retitleTask } = await import("./task-lists.ts");
        return `${await retitleTask(project, task, title)} has the new title of ${task}`;
      },
      pageFile,
    },
  };
}

const PAGE_FOLDER = join(OWN_ROOT, "dist", "web");

function pageFile(name: string): Promise<Uint8Array | null> {
  return readFile(join(PAGE_FOLDER, name)).catch(() => null);
}

/** What the page of all projects looks at. A project's own page is opened when somebody wants it. */
export function openAllScreen(
  { env, say }: Pick<Caller, "env" | "say">,
  mayAct: boolean,
): { readonly ports: AllPorts; close(): Promise<void> } {
  const opened: Screen[] = [];
  const openKnown = ({ root, dir }: KnownProject): Promise<Project> =>
    openProject({ cwd: root, dir, env, ...(say && { say }) });
  return {
    ports: {
      mayAct,
      pageFile,
      projects: () => Promise.all(knownProjects(env).map((known) => entryOf(known, () => openKnown(known)))),
      async open(key) {
        const known = knownProjects(env).find((one) => keyOf(one) === key);
        if (known === undefined) return null;
        const project = await openKnown(known);
        requirePerson(project, "open the page");
        const screen = await openWebScreen(project, mayAct);
        opened.push(screen);
        return screen.ports;
      },
    },
    close: async () => void (await Promise.all(opened.map((screen) => screen.close()))),
  };
}

async function entryOf(known: KnownProject, open: () => Promise<Project>): Promise<ProjectEntry> {
  const { root } = known;
  const about = { key: keyOf(known), name: basename(root), root };
  try {
    const { status } = await statusNow(await open(), Date.now());
    return { ...about, status, problem: null };
  } catch (error) {
    return { ...about, status: null, problem: (error as Error).message };
  }
}

function keyOf({ root }: KnownProject): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 16);
}

/** The file with what an agent printed; null when there is none, or it lies on the machine of another worker. */
export function transcriptOf(project: Project, iteration: number, worker?: string): string | null {
  const file = transcriptFile(project.ralphDir, iteration);
  return file === null || isElsewhere(project, worker) ? null : file;
}

/** The same file, to be read as entries without secrets. */
export async function openTranscript(project: Project, file: string): Promise<TranscriptFile> {
  return TranscriptFile.open(file, { redact: await redactorOf(project), workspace: project.root });
}

/** A file of the same name may be of a run that this machine made alone. */
function isElsewhere(project: Project, worker: string | undefined): boolean {
  return worker !== undefined && worker !== ownWorkerId(project);
}

/** The project's log, opened once a run has made it, and again when another file takes its place. */
class CurrentLog {
  readonly #project: Project;
  #log: Promise<Log> | null = null;
  #place: string | null = null;

  constructor(project: Project) {
    this.#project = project;
  }

  /** Null until the first run. */
  async get(): Promise<Log | null> {
    const there = this.#placeNow();
    if (there === this.#place) return this.#log;
    void this.close();
    if (there === null) return null;
    const opening = openLog(this.#project);
    this.#log = opening;
    this.#place = this.#placeNow();
    // The next call tries again.
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

  /** Of the file itself, whatever its name; null when there is none. */
  #placeNow(): string | null {
    if (this.#project.queue !== null) return "shared";
    const stats = statSync(this.#project.stateFile, { throwIfNoEntry: false });
    return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
  }
}

function drivenHere(project: Project): () => Promise<Driving> {
  return async () => ({
    isDriven: driverOf(project) !== null,
    progress: readProgress(project.ralphDir),
    workers: null,
  });
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
