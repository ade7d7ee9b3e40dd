import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChecklistSource } from "../../src/adapters/tasks/checklist-source.ts";
import { createGoalSource } from "../../src/adapters/tasks/goal-source.ts";
import { describeTaskSource } from "./task-source.contract.ts";

describeTaskSource("a checklist", () => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  const path = join(root, "TODO.md");
  writeFileSync(path, "# Plan\n\n- [ ] one\n- [ ] two\n");
  return Promise.resolve({
    source: createChecklistSource({ root, path: "TODO.md" }),
    async tick() {
      writeFileSync(path, readFileSync(path, "utf8").replace("[ ] one", "[x] one"));
    },
    async dispose() {
      rmSync(root, { recursive: true });
    },
  });
});

describeTaskSource("a goal", () =>
  Promise.resolve({ source: createGoalSource("make it work"), dispose: () => Promise.resolve() }),
);
