import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createBareProject, exists, WORKS, type Project } from "./project.ts";

const CONFIG = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n';
const STORY = { description: "", acceptanceCriteria: [], priority: 1, passes: false };
const LIST = JSON.stringify({
  project: "p",
  userStories: ["US-001", "US-002"].map((id) => ({ id, title: `Story ${id}`, ...STORY })),
});
const DECIDE =
  "## Question (from iteration 7, 2025-06-15T14:30:00Z)\nWebSockets or polling?\n\n---\n## Answer\n";

let project: Project;
afterEach(() => project.dispose());

function begin(files: Readonly<Record<string, string>>, script: object = {}): void {
  project = createBareProject({
    ".ralph/ralph.toml": CONFIG,
    ".ralph/script.json": JSON.stringify({ tasks: script, default: [WORKS] }),
    ".gitignore": ".ralph/\nralph/*.txt\n",
    ...files,
  });
}

test("ralph/tasks.json is found, and its pending blocked.txt holds the task that it names", async () => {
  begin({ "ralph/tasks.json": LIST });
  project.write("ralph/blocked.txt", "US-002: missing API key\n");
  const run = await project.ralph("run");
  expect(run).toMatchObject({ code: 2 });
  expect(await statuses()).toEqual({ "US-001": "done", "US-002": "blocked" });
  const { stdout } = await project.ralph("blocked", "--json");
  expect(JSON.parse(stdout)).toMatchObject([{ id: "US-002", reason: "US-002: missing API key" }]);
  project.remove(".ralph/blocked.txt");
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
});

test("the answer in another program's decide.txt is in the first prompt, and the file goes when it is used", async () => {
  const uses = [{ expectPrompt: "The answer: Polling, for now." }, ...WORKS];
  begin({ "ralph/tasks.json": LIST }, { "US-001": [uses] });
  project.write(".ralph/decide.txt", `${DECIDE}Polling, for now.\n`);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(exists(project, ".ralph/decide.txt")).toBe(false);
});

test("without an answer the task waits, and its file stays as it is", async () => {
  begin({ "ralph/tasks.json": LIST });
  project.write(".ralph/decide.txt", DECIDE);
  expect(await project.ralph("run")).toMatchObject({ code: 3 });
  expect(await statuses()).toEqual({ "US-001": "undecided", "US-002": "done" });
  expect(project.read(".ralph/decide.txt")).toBe(DECIDE);
});

test("events of another program stay in events.json, also after the next run", async () => {
  const event = {
    iteration: 3,
    event_type: "no_files_detected",
    timestamp: "2026-01-02T03:04:05Z",
    severity: "warning",
  };
  const events = [{ ...event, details: { task_id: "x" }, remediation_attempted: true }];
  begin({ "ralph/tasks.json": LIST }, { "US-001": [[{ promise: "COMPLETE" }], WORKS] });
  const path = ".ralph/interventions/events.json";
  project.write(path, JSON.stringify({ $schema: "ralph_gold.interventions.v1", events }));
  await project.ralph("run", "-n", "1");
  const now = (): { readonly events: readonly object[] } => JSON.parse(project.read(path)) as never;
  expect(now().events[0]).toEqual(events[0]);
  await project.ralph("run");
  expect(now().events[0]).toEqual(events[0]);
  expect(now().events.filter((one) => JSON.stringify(one) === JSON.stringify(events[0]))).toHaveLength(1);
});

test("rows of another program's summary.csv are kept", async () => {
  begin({ "ralph/tasks.json": LIST });
  const rows = "iteration,mode,duration_seconds,commit_hash\n1,implement,60,abc\n2,review,30,def\n";
  project.write(".ralph/logs/summary.csv", rows);
  await project.ralph("run");
  expect(project.read(".ralph/logs/summary.csv")).toContain("US-001");
  const kept = readdirSync(join(project.root, ".ralph/logs")).filter((name) =>
    name.startsWith("summary.csv.before-"),
  );
  expect(kept.map((name) => project.read(`.ralph/logs/${name}`))).toEqual([rows]);
});

async function statuses(): Promise<object> {
  const status = JSON.parse((await project.ralph("status", "--json")).stdout) as {
    readonly tasks: readonly { readonly id: string; readonly status: string }[];
  };
  return Object.fromEntries(status.tasks.map(({ id, status: is }) => [id, is]));
}
