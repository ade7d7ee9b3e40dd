import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChecklistSource } from "../../src/adapters/tasks/checklist-source.ts";
import { createGoalSource } from "../../src/adapters/tasks/goal-source.ts";
import { createPromptSource } from "../../src/adapters/tasks/prompt-source.ts";
import { createRoadmapSource } from "../../src/adapters/tasks/roadmap-source.ts";
import { createTasksJsonSource } from "../../src/adapters/tasks/tasks-json-source.ts";
import type { TaskSource } from "../../src/engine/ports.ts";
import { describeStories, describeTaskSource, type TaskSourceSubject } from "./task-source.contract.ts";

/** A source in a file; `tick` is what somebody who ticks the first task replaces, and by what. */
async function fileSubject(
  name: string,
  text: string,
  create: (place: { root: string; path: string }) => TaskSource,
  tick?: readonly [from: string, to: string],
): Promise<TaskSourceSubject> {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const path = join(root, name);
  writeFileSync(path, text);
  return {
    source: create({ root, path: name }),
    ...(tick && {
      async tick() {
        writeFileSync(path, readFileSync(path, "utf8").replace(...tick));
      },
    }),
    async dispose() {
      rmSync(root, { recursive: true });
    },
  };
}

describeTaskSource("a checklist", () =>
  fileSubject("TODO.md", "# Plan\n\n- [ ] one\n- [ ] two\n", createChecklistSource, ["[ ] one", "[x] one"]),
);

describeTaskSource("a roadmap", () =>
  fileSubject(
    "roadmap.md",
    "# Plan\n\n- [ ] **one**: first\n  - ralph: true\n- [ ] **two**: second\n  - depends: one\n",
    createRoadmapSource,
    ["[ ] **one**", "[x] **one**"],
  ),
);

describeTaskSource("a tasks.json", () =>
  fileSubject(
    "tasks.json",
    '{"userStories": [{"id": "one", "title": "first", "passes": false}, {"id": "two", "title": "second"}]}',
    createTasksJsonSource,
    ["false", "true"],
  ),
);

describeStories("a tasks.json", async (text) => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const path = join(root, "tasks.json");
  writeFileSync(path, text);
  return {
    source: createTasksJsonSource({ root, path: "tasks.json" }),
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
