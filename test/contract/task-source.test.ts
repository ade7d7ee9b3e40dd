import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginSource } from "../../src/adapters/plugins/plugin.ts";
import { pluginSource } from "../../src/adapters/plugins/plugin-source.ts";
import { CHECKLIST } from "../../src/adapters/tasks/checklist-format.ts";
import { createFileSource } from "../../src/adapters/tasks/task-format.ts";
import { createGithubSource } from "../../src/adapters/tasks/github-source.ts";
import { createGoalSource, createPromptSource } from "../../src/adapters/tasks/prompt-source.ts";
import { roadmapFormat } from "../../src/adapters/tasks/roadmap-format.ts";
import { STORIES } from "../../src/adapters/tasks/stories-format.ts";
import type { TaskSource } from "../../src/engine/ports.ts";
import { installFakeGithub } from "../fixtures/fake-github.ts";
import { describeStories, describeTaskSource, type TaskSourceSubject } from "./task-source.contract.ts";

/** A source in a file; `tick` is what somebody who ticks the first task replaces, and by what. */
async function fileSubject(
  name: string,
  text: string,
  create: (place: { root: string; path: string; keepIn: string }) => TaskSource,
  tick?: readonly [from: string, to: string],
): Promise<TaskSourceSubject> {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const path = join(root, name);
  writeFileSync(path, text);
  const keepIn = mkdtempSync(join(tmpdir(), "ralph-test-"));
  return {
    source: create({ root, path: name, keepIn }),
    ...(tick && {
      async tick() {
        writeFileSync(path, readFileSync(path, "utf8").replace(...tick));
      },
    }),
    async dispose() {
      for (const folder of [root, keepIn]) rmSync(folder, { recursive: true });
    },
  };
}

describeTaskSource("a checklist", () =>
  fileSubject("TODO.md", "# Plan\n\n- [ ] one\n- [ ] two\n", (place) => createFileSource(place, CHECKLIST), [
    "[ ] one",
    "[x] one",
  ]),
);

describeTaskSource("a roadmap", () =>
  fileSubject(
    "roadmap.md",
    "# Plan\n\n- [ ] **one**: first\n  - ralph: true\n- [ ] **two**: second\n  - depends: one\n",
    (place) => createFileSource(place, roadmapFormat()),
    ["[ ] **one**", "[x] **one**"],
  ),
);

describeTaskSource("a tasks.json", () =>
  fileSubject(
    "tasks.json",
    '{"userStories": [{"id": "one", "title": "first", "passes": false}, {"id": "two", "title": "second"}]}',
    (place) => createFileSource(place, STORIES),
    ["false", "true"],
  ),
);

describeTaskSource("GitHub issues", async () => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const github = installFakeGithub(root, [{ title: "first" }, { title: "second", body: "Depends on #1" }]);
  let now = 0;
  return {
    source: createGithubSource(
      { repo: null, label: "ralph", whenDone: "close" },
      { root, env: { PATH: github.bin }, now: () => (now += 60_000) },
    ),
    async tick() {
      github.change((hub) => Object.assign(hub.issues[0]!, { state: "CLOSED", closedBy: hub.login }));
    },
    async dispose() {
      rmSync(root, { recursive: true });
    },
  };
});

describeTaskSource("a plugin", async () => {
  const open = { first: false, second: false };
  const set = (id: string, isDone: boolean): void => {
    if (Object.hasOwn(open, id)) Object.assign(open, { [id]: isDone });
  };
  const service: PluginSource = {
    observe: () => Object.entries(open).map(([id, done]) => ({ id, title: `Make the ${id}`, done })),
    mark: (id) => set(id, true),
    unmark: (id) => set(id, false),
  };
  const part = { plugin: "mine", kind: "source", name: "list" } as const;
  let now = 0;
  const around = { root: "/", env: {}, warn: () => {}, now: () => (now += 60_000) };
  return {
    source: pluginSource(part, service, around),
    tick: async () => set("first", true),
    dispose: () => Promise.resolve(),
  };
});

describeStories("a tasks.json", async (text) => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const path = join(root, "tasks.json");
  writeFileSync(path, text);
  return {
    source: createFileSource({ root, path: "tasks.json", keepIn: join(root, "state") }, STORIES),
    text: async () => (existsSync(path) ? readFileSync(path, "utf8") : null),
    async put(changed) {
      if (changed === null) rmSync(path);
      else writeFileSync(path, changed);
    },
    async dispose() {
      rmSync(root, { recursive: true });
    },
  };
});

describeTaskSource("a prompt", () =>
  fileSubject("PROMPT.md", "# Make it work\n\nAll of it.\n", createPromptSource),
);

describeTaskSource("a goal", () =>
  Promise.resolve({ source: createGoalSource("make it work"), dispose: () => Promise.resolve() }),
);
