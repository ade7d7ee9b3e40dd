import { afterAll, beforeAll, expect, test } from "vitest";
import { createProject, WORKS, type Project, type Steps } from "./project.ts";

const CONFIG = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n[run]\nmax_attempts = 1\n';
const ASKS: Steps = [{ decide: "Red or blue? | red | blue" }];
const BLOCKED: Steps = [{ blocked: "no key" }];

let project: Project;
beforeAll(async () => {
  project = createProject({
    tasks: ["done-first", "asks-colour", "blocked-by-key", "open-a", "open-b"],
    config: CONFIG,
  });
  project.script({ "asks-colour": [ASKS], "blocked-by-key": [BLOCKED] }, [WORKS]);
  project.commit();
  await project.ralph("skip", "open-a");
  await project.ralph("skip", "open-b");
  await project.ralph("run", "--keep-going");
});
afterAll(() => project.dispose());

/** In an order in which each still has something to do; what each answers with --json. */
const COMMANDS: readonly (readonly [words: readonly string[], code: number, answer: object])[] = [
  [["why", "done"], 0, { task: "done-first" }],
  [["verify", "done", "--no-gates"], 0, { task: "done-first" }],
  [["diff", "done"], 0, { task: "done-first" }],
  [["history", "--task", "done"], 0, [{ task: "done-first" }]],
  [["promises", "--task", "done"], 0, [{ task: "done-first" }]],
  [["skip", "open-a", "--undo"], 0, { done: true }],
  [["prompt", "open-a"], 0, { task: "open-a" }],
  [["steer", "open-a", "use blue"], 0, { task: "open-a" }],
  [["steer", "open-a"], 0, [{ task: "open-a", text: "use blue" }]],
  [["decide", "asks", "red"], 0, { done: true, task: "asks-colour", answer: "red" }],
  [["unblock", "blocked", "here it is"], 0, { done: true, tasks: ["blocked-by-key"] }],
  [["discard", "blocked"], 0, { done: true }],
  [["undo", "done", "--dry-run"], 0, { done: true }],
  [["undo", "done"], 0, { done: true }],
  [["reset", "--task", "blocked"], 0, { done: true, said: "blocked-by-key starts from the beginning" }],
  [["reset", "--circuit", "--calls"], 0, { done: true }],
  [["stop"], 0, { done: false }],
  [["report"], 0, { format: "md" }],
  [["report", "--html"], 0, { format: "html" }],
  [["worktrees"], 0, []],
  [["gates"], 0, []],
  [["archive"], 0, { folder: expect.any(String) as string }],
  [["init"], 0, { wrote: expect.any(Array) as unknown[], next: expect.any(Array) as unknown[] }],
  [["reset", "--all", "--yes"], 0, { done: true }],
];

test.each(COMMANDS)("ralph %j --json takes a short id, and prints one value", async (words, code, answer) => {
  const finished = await project.ralph(...words, "--json");
  expect(finished).toMatchObject({ code });
  expect(JSON.parse(finished.stdout)).toMatchObject(answer);
});

test.each([
  ["an id that may be two", ["why", "open"], '"open" may be open-a, open-b'],
  ["an id that no task has", ["cancel", "opne-a"], 'there is no task "opne-a". Did you mean "open-a"?'],
  ["a short id that a run does not know", ["run", "--task", "oh"], 'there is no task "oh"'],
])("%s is an error, as JSON too", async (_, words, message) => {
  project.write("TODO.md", "- [ ] open-a\n- [ ] open-b\n");
  const { code, stdout } = await project.ralph(...words, "--json");
  expect(code).toBe(64);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "usage", message: expect.stringContaining(message) as string },
  });
});
