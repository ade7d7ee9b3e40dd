import { randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { iterationFolder, type FolderTask, type IterationFolder } from "./iteration-folder.ts";

const task: FolderTask = {
  id: "task-007",
  title: "Log in",
  description: "Users log in\nwith a password.",
  criteria: ["a wrong password is refused"],
  stage: "build",
  iteration: 2,
  maxIterations: 30,
};
const COMPLETE = '{"tool":"task_complete","summary":"done"}\n';

let folder: IterationFolder;
let reports: string;

beforeEach(() => {
  folder = iterationFolder(randomUUID());
  folder.make(task);
  reports = join(folder.path, "reports.jsonl");
});

afterEach(() => folder.dispose());

test("the folder is private and tells the task in wire names", () => {
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder.path, "task.json")).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(folder.path, "task.json"), "utf8"))).toEqual({
    id: "task-007",
    title: "Log in",
    description: "Users log in\nwith a password.",
    acceptance_criteria: ["a wrong password is refused"],
    stage: "build",
    iteration: 2,
    max_iterations: 30,
  });
});

test("it is gone after its disposal, which may be asked for twice", () => {
  writeFileSync(reports, COMPLETE);
  folder.dispose();
  folder.dispose();
  expect(existsSync(folder.path)).toBe(false);
  expect(folder.readReports()).toEqual([]);
});

test("files of the agent are read, unless they are huge or none", () => {
  expect(folder.read("usage.json")).toBe(null);
  writeFileSync(join(folder.path, "usage.json"), "");
  expect(folder.read("usage.json")).toBe("");
  writeFileSync(join(folder.path, "usage.json"), "{}");
  expect(folder.read("usage.json")).toBe("{}");
  truncateSync(join(folder.path, "usage.json"), 2 ** 40);
  expect(folder.read("usage.json")).toBe(null);
});

describe("reports", () => {
  test("are none as long as nobody wrote any", () => {
    expect(folder.readReports()).toEqual([]);
  });

  test("come in their order", () => {
    writeFileSync(reports, `{"tool":"report_progress","message":"half"}\n${COMPLETE}`);
    expect(folder.readReports()).toEqual([
      { tool: "report_progress", message: "half" },
      { tool: "task_complete", summary: "done" },
    ]);
  });

  test("are read among garbage", () => {
    writeFileSync(reports, Buffer.from([0xff, 0xfe, 0, 10]));
    appendFileSync(
      reports,
      `not json\n[]\n{"tool":"rm"}\n${"[".repeat(100_000)}\n\n${COMPLETE}{"tool":"task_`,
    );
    expect(folder.readReports()).toEqual([{ tool: "task_complete", summary: "done" }]);
  });

  test("of a huge file are those at its end", () => {
    writeFileSync(reports, '{"tool":"task_blocked","reason":"at the beginning"}\n');
    truncateSync(reports, 2 ** 40);
    appendFileSync(reports, `\n${COMPLETE}`);
    expect(folder.readReports()).toEqual([{ tool: "task_complete", summary: "done" }]);
  });

  test("of very many are the last", () => {
    const lines = Array.from(
      { length: 3_000 },
      (_, index) => `{"tool":"task_blocked","reason":"${index}"}\n`,
    );
    writeFileSync(reports, lines.join(""));
    const read = folder.readReports();
    expect(read).toHaveLength(1_000);
    expect(read.at(-1)).toEqual({ tool: "task_blocked", reason: "2999" });
  });

  test("are not read through a link", () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "ralph-test-"));
    writeFileSync(join(elsewhere, "reports.jsonl"), COMPLETE);
    symlinkSync(join(elsewhere, "reports.jsonl"), reports);
    expect(folder.readReports()).toEqual([]);
    rmSync(folder.path, { recursive: true });
    symlinkSync(elsewhere, folder.path);
    expect(folder.readReports()).toEqual([]);
    folder.dispose();
    expect(existsSync(join(elsewhere, "reports.jsonl"))).toBe(true);
    rmSync(elsewhere, { recursive: true });
  });

  test("are none in a folder, a pipe or a device", () => {
    mkdirSync(reports);
    expect(folder.readReports()).toEqual([]);
    rmSync(reports, { recursive: true });
    execFileSync("mkfifo", [reports]);
    expect(folder.readReports()).toEqual([]);
    rmSync(reports);
    symlinkSync("/dev/zero", reports);
    expect(folder.readReports()).toEqual([]);
  });
});
