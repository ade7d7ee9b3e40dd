import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { raceStoreProcesses } from "../../../test/fixtures/start-store-process.ts";
import { projectId } from "./project-id.ts";
import { openSqliteLog } from "./sqlite-log.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-id-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("an id is made once and stays", () => {
  const id = projectId(join(folder, "a/b"));
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(projectId(join(folder, "a/b"))).toBe(id);
  expect(readFileSync(join(folder, "a/b/project"), "utf8")).toBe(`${id}\n`);
  expect(readdirSync(join(folder, "a/b"))).toEqual(["project"]);
});

test("two projects have different ids", () => {
  expect(projectId(join(folder, "a"))).not.toBe(projectId(join(folder, "b")));
});

test("processes that start at the same moment agree on one id", async () => {
  const racers = await raceStoreProcesses(3, "project-id", folder);
  expect(new Set(racers.map(({ said }) => said))).toEqual(new Set([projectId(folder)]));
  expect(readdirSync(folder)).toEqual(["project"]);
});

test.each(["another id", "no id"])(
  "%s than the only one in the state beside it is refused, with what to do",
  async (how) => {
    const id = projectId(folder);
    const { log } = openSqliteLog(join(folder, "state.db"), id);
    await log.append([{ type: "calls.reset" }]);
    await log.close();
    writeFileSync(join(folder, "project"), how === "no id" ? `${id.slice(1)}\n` : `${crypto.randomUUID()}\n`);
    expect(() => openSqliteLog(join(folder, "state.db"), projectId(folder))).toThrow(
      expect.objectContaining({
        code: "state-unusable",
        hint: expect.stringContaining(`echo ${id} > ${folder}/project`),
      }),
    );
  },
);

test("a file that holds something else is refused, not replaced", () => {
  writeFileSync(join(folder, "project"), "mine\n");
  expect(() => projectId(folder)).toThrow(expect.objectContaining({ code: "state-unusable" }));
  expect(readFileSync(join(folder, "project"), "utf8")).toBe("mine\n");
});
