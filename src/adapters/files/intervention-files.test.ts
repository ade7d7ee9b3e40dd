import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryProject, type MemoryProject } from "../../../test/fixtures/memory-project.ts";
import { interventionChosen, runStarted, settings, task, tasksObserved } from "../../../test/spec/given.ts";
import type { Event } from "../../core/events.ts";
import { EMPTY_STATE } from "../../core/state.ts";
import type { InterventionEntry } from "../../core/views/interventions.ts";
import { InterventionFiles } from "./intervention-files.ts";

const DAY = 86_400_000;
const JANUARY = Date.UTC(2026, 0, 20);

let folder: string;
let ralphDir: string;
let now: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  ralphDir = join(folder, ".ralph");
  now = JANUARY;
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("events.json", () => {
  test("grows by one entry an event, and is a whole document every time", async () => {
    const process = await startProcess();
    expect(eventsFile()).toEqual([]);
    await process.record(liedIn(1));
    await process.record(liedIn(2), liedIn(3));
    expect(eventsFile().map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
    expect(eventsFile()[0]).toMatchObject({
      event_type: "no_files_detected",
      timestamp: "2026-01-20T00:00:00.000Z",
      details: { task_id: "one", agent: "stub" },
    });
    expect(readdirSync(join(ralphDir, "interventions")).toSorted()).toEqual([
      "events.json",
      "feedback.txt",
      "profile.json",
    ]);
  });

  test.each<[what: string, damage: () => void]>([
    ["deleted", () => rmSync(eventsPath())],
    ["deleted with its folder", () => rmSync(join(ralphDir, "interventions"), { recursive: true })],
    ["deleted with everything", () => rmSync(ralphDir, { recursive: true })],
    ["cut off", () => writeFileSync(eventsPath(), readFileSync(eventsPath()).subarray(0, 40))],
    ["garbage", () => writeFileSync(eventsPath(), "\0\0\0")],
    ["changed by somebody", () => writeFileSync(eventsPath(), text(eventsPath()).replace("stub", "sham"))],
    ["behind", () => writeFileSync(eventsPath(), '{"$schema": "x", "events": []}')],
  ])("that is %s is made again by the next process", async (_what, damage) => {
    const project = newProject();
    await (await startProcess(project)).record(liedIn(1), liedIn(2));
    const before = allFiles();
    damage();
    await startProcess(project);
    expect(allFiles()).toEqual(before);
  });

  test("and all the others come back in the same run when an agent deletes them", async () => {
    const process = await startProcess();
    await process.record(liedIn(1));
    rmSync(join(ralphDir, "interventions"), { recursive: true });
    rmSync(join(ralphDir, "metrics.json"));
    await process.record({ type: "task.unblocked", task: "one", reason: "", timeoutMs: null, by: "person" });
    expect(eventsFile()).toHaveLength(1);
    expect(Object.keys(allFiles())).toHaveLength(4);
  });

  test("is not written when nothing changed", async () => {
    const project = newProject();
    await (await startProcess(project)).record(liedIn(1));
    const before = inodes();
    const process = await startProcess(project);
    await process.record({ type: "task.unblocked", task: "one", reason: "", timeoutMs: null, by: "person" });
    expect(inodes()).toEqual(before);
  });

  test("is emptied by a reset; what came before stays out for ever", async () => {
    const project = newProject();
    const process = await startProcess(project);
    await process.record(liedIn(1));
    await process.record({ type: "interventions.reset" });
    expect(eventsFile()).toEqual([]);
    expect(profiles()).toEqual([]);
    await process.record(liedIn(2));
    rmSync(eventsPath());
    await startProcess(project);
    expect(eventsFile().map(({ iteration }) => iteration)).toEqual([2]);
  });

  test("is left alone until restored: nobody knows yet what belongs in it", async () => {
    const project = newProject();
    await (await startProcess(project)).record(liedIn(1));
    const before = text(eventsPath());
    const unrestored = new InterventionFiles(ralphDir, project.openLog(), { now: () => now });
    await unrestored.settle(EMPTY_STATE);
    expect(text(eventsPath())).toBe(before);
  });
});

describe("old events", () => {
  test("go into an archive for each month, which keeps what is in it", async () => {
    const process = await startProcess();
    await process.record(liedIn(1));
    now = Date.UTC(2026, 1, 5);
    await process.record(liedIn(2));
    expect(archives()).toEqual({});
    now = JANUARY + 31 * DAY;
    await process.record(liedIn(3));
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1] });
    now = Date.UTC(2026, 2, 8);
    await process.record(liedIn(4));
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1], "events-2026-02.json.gz": [2] });
    now = Date.UTC(2026, 2, 25);
    await process.record(liedIn(5));
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1], "events-2026-02.json.gz": [2, 3] });
    expect(eventsFile().map(({ iteration }) => iteration)).toEqual([4, 5]);
  });

  test("are also those of which there are too many, whoever counts them", async () => {
    const project = newProject();
    const process = await startProcess(project);
    const numbers = Array.from({ length: 1_200 }, (_, index) => index + 1);
    for (let from = 0; from < numbers.length; from += 300)
      await process.record(...numbers.slice(from, from + 300).map(liedIn));
    expect(eventsFile().map(({ iteration }) => iteration)).toEqual(numbers.slice(500));
    expect(archives()).toEqual({ "events-2026-01.json.gz": numbers.slice(0, 500) });
    const before = allFiles();
    await startProcess(project);
    expect(allFiles()).toEqual(before);
    writeFileSync(eventsPath(), "{}");
    await startProcess(project);
    expect(allFiles()).toEqual(before);
  });

  test("come once, though processes die and files are lost in between", async () => {
    const project = newProject();
    await (await startProcess(project)).record(liedIn(1), liedIn(2));
    now += 40 * DAY;
    await startProcess(project);
    // As if the process had died between the archive and events.json.
    writeFileSync(eventsPath(), "{}");
    await startProcess(project);
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1, 2] });
    rmSync(join(ralphDir, "interventions", "events-2026-01.json.gz"));
    await (await startProcess(project)).record(liedIn(3));
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1, 2] });
    expect(eventsFile().map(({ iteration }) => iteration)).toEqual([3]);
  });

  test("of a log that was lost stay in the archive", async () => {
    await (await startProcess()).record(liedIn(1));
    now += 40 * DAY;
    const path = join(ralphDir, "interventions", "events-2026-01.json.gz");
    const foreign = { iteration: 99, event_type: "timeout", timestamp: "2026-01-01T00:00:00.000Z" };
    writeFileSync(path, gzipSync(JSON.stringify({ events: [foreign] })));
    const project = newProject();
    now = JANUARY;
    await (await startProcess(project)).record(liedIn(5));
    now += 40 * DAY;
    await startProcess(project);
    expect(archives()).toEqual({ "events-2026-01.json.gz": [99, 5] });
  });

  test("replace an archive that nobody can read", async () => {
    const project = newProject();
    await (await startProcess(project)).record(liedIn(1));
    now += 40 * DAY;
    writeFileSync(join(ralphDir, "interventions", "events-2026-01.json.gz"), "half of it");
    await startProcess(project);
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1] });
  });

  test("are as old as the run's settings say", async () => {
    const process = await startProcess();
    const interventions = { ...settings().interventions, rotationDays: 2 };
    await process.record(runStarted({ interventions }), liedIn(1));
    now += 3 * DAY;
    await process.record(liedIn(2));
    expect(archives()).toEqual({ "events-2026-01.json.gz": [1] });
  });
});

describe("the other files", () => {
  test("tell of profiles, metrics and the next prompt", async () => {
    const process = await startProcess();
    expect(profiles()).toEqual([]);
    expect(text(join(ralphDir, "interventions", "feedback.txt"))).toBe("");
    await process.record(liedIn(1));
    expect(profiles()).toMatchObject([{ agent_id: "stub", no_files_count: 1 }]);
    expect(JSON.parse(text(join(ralphDir, "metrics.json")))).toMatchObject({
      total_interventions: 1,
      intervention_rate_per_100_iterations: null,
    });
    expect(text(join(ralphDir, "interventions", "feedback.txt"))).toMatch(/^## Previous[^]*lied in 1\n$/);
  });
});

describe("a folder that leads elsewhere", () => {
  test("is refused, and nothing is written there", async () => {
    mkdirSync(ralphDir);
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(ralphDir, "interventions"));
    await expect(startProcess()).rejects.toMatchObject({ code: "not-writable" });
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
  });

  test("is refused in the middle of a run, too, when it is a file", async () => {
    const process = await startProcess();
    rmSync(join(ralphDir, "interventions"), { recursive: true });
    writeFileSync(join(ralphDir, "interventions"), "");
    await process.record(liedIn(1));
    await expect(process.record(liedIn(2))).rejects.toMatchObject({ code: "not-writable" });
  });

  test("is refused in the middle of a run when it leads elsewhere", async () => {
    const process = await startProcess();
    rmSync(join(ralphDir, "interventions"), { recursive: true });
    symlinkSync(folder, join(ralphDir, "interventions"));
    await process.record(liedIn(1));
    await expect(process.record(liedIn(2))).rejects.toMatchObject({ code: "not-writable" });
    expect(existsSync(join(folder, "events.json"))).toBe(false);
  });
});

interface Process {
  /** Records the facts as a run does, and lets the files follow. */
  record(...events: readonly Event[]): Promise<void>;
}

async function startProcess(project = newProject()): Promise<Process> {
  const log = project.openLog();
  const files = new InterventionFiles(ralphDir, log, { now: () => now }, 0);
  const journal = await project.openJournal(log, [files]);
  if (journal.state.run === null) await journal.record(runStarted(), tasksObserved(task("one")));
  await files.restore(journal.state);
  return {
    async record(...events) {
      await journal.record(...events);
      // The files follow a moment later; a timer that was set first also fires first.
      await sleep(20);
    },
  };
}

function newProject(): MemoryProject {
  return memoryProject(() => now);
}

function liedIn(iteration: number): Event {
  return interventionChosen(iteration, task("one"), { severity: "critical", text: `lied in ${iteration}` });
}

function eventsPath(): string {
  return join(ralphDir, "interventions", "events.json");
}

function text(path: string): string {
  return readFileSync(path, "utf8");
}

function eventsFile(): readonly InterventionEntry[] {
  return eventsIn(text(eventsPath()));
}

function eventsIn(document: string): readonly InterventionEntry[] {
  return (JSON.parse(document) as { events: readonly InterventionEntry[] }).events;
}

function profiles(): readonly unknown[] {
  const document = text(join(ralphDir, "interventions", "profile.json"));
  return (JSON.parse(document) as { profiles: readonly unknown[] }).profiles;
}

/** The iterations in each archive. */
function archives(): Record<string, readonly number[]> {
  const names = readdirSync(join(ralphDir, "interventions")).filter((name) => name.endsWith(".gz"));
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const document = gunzipSync(readFileSync(join(ralphDir, "interventions", name))).toString();
      return [name, eventsIn(document).map(({ iteration }) => iteration)];
    }),
  );
}

const FILES = [
  "interventions/events.json",
  "interventions/profile.json",
  "interventions/feedback.txt",
  "metrics.json",
];

function allFiles(): Record<string, string> {
  return Object.fromEntries(FILES.map((file) => [file, text(join(ralphDir, file))]));
}

/** A file that was replaced has another one. */
function inodes(): readonly number[] {
  return FILES.map((file) => statSync(join(ralphDir, file)).ino);
}
