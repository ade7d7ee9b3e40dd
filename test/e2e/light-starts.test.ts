// What a command loads is what its start costs. Times are for benchmarks; what is loaded can be counted.
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProject, startRalph, type Project } from "./project.ts";

const TELL_LOADED = `
import { registerHooks } from "node:module";
import { writeSync } from "node:fs";
registerHooks({ load(url, context, next) { writeSync(2, "loaded " + url + "\\n"); return next(url, context); } });`;

let project: Project;

beforeEach(() => {
  project = createProject();
});
afterEach(() => project.dispose());

async function loadedBy(
  ...args: readonly string[]
): Promise<{ readonly files: readonly string[]; readonly kb: number }> {
  const env = {
    ...project.env,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(TELL_LOADED)}`,
  };
  const { stderr } = await startRalph(project.root, env, args).finished;
  const files = [...stderr.matchAll(/^loaded (file:\S+)$/gm)].map(([, url = ""]) => fileURLToPath(url));
  return { files, kb: files.reduce((sum, file) => sum + statSync(file).size, 0) / 1_000 };
}

test("help loads the command line and nothing else", async () => {
  const { files, kb } = await loadedBy("--help");
  expect(files.length).toBeLessThan(6);
  expect(kb).toBeLessThan(200);
});

test("a topic loads the command line and its own page", async () => {
  const { files, kb } = await loadedBy("help", "verdicts");
  expect(files.length).toBeLessThan(12);
  expect(kb).toBeLessThan(200);
});

test("status loads the log, but neither agents nor the loop", async () => {
  const { kb } = await loadedBy("status");
  expect(kb).toBeLessThan(450);
});

test("a hook, for which an agent waits, loads no database", async () => {
  const { files, kb } = await loadedBy("hook", "post-tool-use");
  expect(files.filter((file) => file.includes("better-sqlite3"))).toEqual([]);
  expect(kb).toBeLessThan(250);
});
