import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deliveredFile } from "./delivered-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-delivered-"));
  path = join(folder, "notified.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the next process knows what each channel has had", () => {
  const delivered = deliveredFile(path, "log");
  expect(delivered.read("webhook")).toBeNull();
  delivered.write("webhook", 7);
  delivered.write("command", 9);
  const next = deliveredFile(path, "log");
  expect([next.read("webhook"), next.read("command"), next.read("desktop")]).toEqual([7, 9, null]);
});

test("positions of another log mean nothing", () => {
  deliveredFile(path, "log").write("webhook", 7);
  expect(deliveredFile(path, "other").read("webhook")).toBeNull();
});

test.each(["", "nonsense", "null", "[]", '{"log":"log"}', '{"log":"log","delivered":{"webhook":"x"}}'])(
  "a file with %j counts as none",
  (text) => {
    writeFileSync(path, text);
    expect(deliveredFile(path, "log").read("webhook")).toBeNull();
  },
);
