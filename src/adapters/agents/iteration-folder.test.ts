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
import { openIterationFolder, type FolderTask, type IterationFolder } from "./iteration-folder.ts";

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

beforeEach(async () => {
  folder = await openIterationFolder(task);
  reports = join(folder.path, "reports.jsonl");
});

afterEach(async () => folder.dispose());

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

test("it is gone after its disposal, which may be asked for twice", async () => {
  writeFileSync(reports, COMPLETE);
  await folder.dispose();
  await folder.dispose();
  expect(existsSync(folder.path)).toBe(false);
  expect(await folder.readReports()).toEqual([]);
});

test("files of ours are private, and never take the place of others", async () => {
  await folder.write("settings.json", "{}");
  expect(readFileSync(join(folder.path, "settings.json"), "utf8")).toBe("{}");
  expect(statSync(join(folder.path, "settings.json")).mode & 0o777).toBe(0o600);
  await expect(folder.write("settings.json", "{}")).rejects.toThrow("something else is in its place");
});

test("files of the agent are read, unless they are huge or none", async () => {
  expect(await folder.read("usage.json")).toBe(null);
  writeFileSync(join(folder.path, "usage.json"), "");
  expect(await folder.read("usage.json")).toBe("");
  writeFileSync(join(folder.path, "usage.json"), "{}");
  expect(await folder.read("usage.json")).toBe("{}");
  truncateSync(join(folder.path, "usage.json"), 2 ** 40);
  expect(await folder.read("usage.json")).toBe(null);
});

describe("reports", () => {
  test("are none as long as nobody wrote any", async () => {
    expect(await folder.readReports()).toEqual([]);
  });

  test("come in their order", async () => {
    writeFileSync(reports, `{"tool":"report_progress","message":"half"}\n${COMPLETE}`);
    expect(await folder.readReports()).toEqual([
      { tool: "report_progress", message: "half" },
      { tool: "task_complete", summary: "done" },
    ]);
  });

  test("are read among garbage", async () => {
    writeFileSync(reports, Buffer.from([0xff, 0xfe, 0, 10]));
    appendFileSync(
      reports,
      `not json\n[]\n{"tool":"rm"}\n${"[".repeat(100_000)}\n\n${COMPLETE}{"tool":"task_`,
    );
    expect(await folder.readReports()).toEqual([{ tool: "task_complete", summary: "done" }]);
  });

  test("of a huge file are those at its end", async () => {
    writeFileSync(reports, '{"tool":"task_blocked","reason":"at the beginning"}\n');
    truncateSync(reports, 2 ** 40);
    appendFileSync(reports, `\n${COMPLETE}`);
    expect(await folder.readReports()).toEqual([{ tool: "task_complete", summary: "done" }]);
  });

  test("of very many are the last", async () => {
    const lines = Array.from(
      { length: 3_000 },
      (_, index) => `{"tool":"task_blocked","reason":"${index}"}\n`,
    );
    writeFileSync(reports, lines.join(""));
    const read = await folder.readReports();
    expect(read).toHaveLength(1_000);
    expect(read.at(-1)).toEqual({ tool: "task_blocked", reason: "2999" });
  });

  test("are not read through a link", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "ralph-test-"));
    writeFileSync(join(elsewhere, "reports.jsonl"), COMPLETE);
    symlinkSync(join(elsewhere, "reports.jsonl"), reports);
    expect(await folder.readReports()).toEqual([]);
    rmSync(folder.path, { recursive: true });
    symlinkSync(elsewhere, folder.path);
    expect(await folder.readReports()).toEqual([]);
    await folder.dispose();
    expect(existsSync(join(elsewhere, "reports.jsonl"))).toBe(true);
    rmSync(elsewhere, { recursive: true });
  });

  test("are none in a folder, a pipe or a device", async () => {
    mkdirSync(reports);
    expect(await folder.readReports()).toEqual([]);
    rmSync(reports, { recursive: true });
    execFileSync("mkfifo", [reports]);
    expect(await folder.readReports()).toEqual([]);
    rmSync(reports);
    symlinkSync("/dev/zero", reports);
    expect(await folder.readReports()).toEqual([]);
  });
});
