import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deleteOldTexts, prepareRalphFolder } from "./ralph-folder.ts";

const DAY_S = 86_400;
const NOW_S = Date.UTC(2026, 5, 1) / 1_000;

let folder: string;
let logs: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-texts-"));
  logs = join(folder, "logs");
  mkdirSync(logs);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, daysOld: number): void {
  writeFileSync(path, "text");
  utimesSync(path, NOW_S - daysOld * DAY_S, NOW_S - daysOld * DAY_S);
}

test("what agents say is for the owner only, also where another ralph made the folder", () => {
  chmodSync(logs, 0o755);
  prepareRalphFolder(folder);
  expect(statSync(logs).mode & 0o777).toBe(0o700);
});

test("old texts of iterations, plans and watched runs are deleted, and nothing else", () => {
  const old = [
    "iteration-001.log",
    "iteration-001.prompt.md",
    "iteration-001.reader.log",
    "iteration-001.reader.prompt.md",
    "plan-001.log",
    "run-20260101T000000-77.log",
  ];
  const others = [
    "summary.csv",
    "execution.jsonl",
    "ralph.log",
    "ralph.log.1",
    "iteration-1.txt",
    "my-iteration-001.log",
  ];
  for (const name of [...old, ...others]) file(join(logs, name), 40);
  for (const name of ["iteration-002.log", "plan-002.log"]) file(join(logs, name), 3);
  expect(deleteOldTexts(folder, (NOW_S - 30 * DAY_S) * 1_000)).toBe(old.length);
  expect(readdirSync(logs).toSorted()).toEqual([...others, "iteration-002.log", "plan-002.log"].toSorted());
});

test("the last number stays, however old it is: by it numbers go on", () => {
  for (const name of ["iteration-009.log", "iteration-010.log", "iteration-010.prompt.md"])
    file(join(logs, name), 400);
  expect(deleteOldTexts(folder, NOW_S * 1_000)).toBe(1);
  expect(readdirSync(logs)).toEqual(["iteration-010.log", "iteration-010.prompt.md"]);
});

test("links and folders stay, and so does what they lead to", () => {
  file(join(folder, "precious"), 400);
  mkdirSync(join(logs, "iteration-002.log"));
  symlinkSync("../precious", join(logs, "iteration-001.log"));
  file(join(logs, "iteration-009.log"), 400);
  expect(deleteOldTexts(folder, NOW_S * 1_000)).toBe(0);
  expect(readdirSync(folder)).toEqual(["logs", "precious"]);
});
