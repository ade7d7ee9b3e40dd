import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EVENT_VERSION, type Recorded } from "../../core/events.ts";
import { readExport } from "./read-export.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-export-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function read(...lines: readonly unknown[]): Promise<readonly Recorded[]> {
  const file = join(folder, "x.jsonl");
  writeFileSync(
    file,
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
  const events: Recorded[] = [];
  for await (const { event } of readExport(file)) events.push(event);
  return events;
}

const AT = "2026-01-01T00:00:00.000Z";
const RESET = { position: 3, at: AT, type: "task.reset", run: null, task: "one", v: EVENT_VERSION };

test("an event is what it was", async () => {
  expect(await read(RESET)).toEqual([{ position: 3, at: Date.parse(AT), type: "task.reset", task: "one" }]);
});

test("empty lines do no harm", async () => {
  expect(await read("", RESET, "", "")).toHaveLength(1);
});

test.each([
  [[RESET, RESET], "line 2 of x.jsonl is damaged: position 3 comes after position 3"],
  [[RESET, '{"position": 4'], "line 2 of x.jsonl is damaged: it is not JSON"],
  [["", { ...RESET, at: null }], "line 2 of x.jsonl is damaged: it has no time"],
  [[{ ...RESET, v: 1 }], "line 1 of x.jsonl is damaged: it is no whole event that this ralph knows"],
  [[{ ...RESET, v: EVENT_VERSION + 1 }], "line 1 of x.jsonl was written by a newer ralph"],
  [[{ ...RESET, type: "gates.checked", v: 1 }], "line 1 of x.jsonl is damaged: it is no whole event"],
])("what cannot be read is named with its line: %j", async (lines, message) => {
  await expect(read(...lines)).rejects.toThrow(message);
});

test("a file that is not there, or is a folder, is said", async () => {
  await expect(readExport(join(folder, "none.jsonl")).next()).rejects.toThrow("there is no file");
  await expect(readExport(folder).next()).rejects.toThrow("cannot be read (EISDIR)");
});
