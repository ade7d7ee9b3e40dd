import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SourceIdentity } from "../../core/plan.ts";
import { createRedactor } from "../../core/redact.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { createGoalSource } from "./prompt-source.ts";
import { redactingSource, submittedSource } from "./redacting-source.ts";
import { CHECKLIST } from "./checklist-format.ts";
import { createFileSource } from "./task-format.ts";

test("a secret in the plan is hidden, its id too, and the task can still be marked", async () => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  writeFileSync(join(root, "TODO.md"), "- [ ] **hunter2hunter2**: log in with hunter2hunter2\n");
  const redact = createRedactor(["hunter2hunter2"]);
  const source = redactingSource(createFileSource({ root, path: "TODO.md" }, CHECKLIST), redact);
  const [task] = (await source.observe()).tasks;
  expect(JSON.stringify(task)).not.toContain("hunter2");
  await source.mark(task?.id ?? "");
  expect(readFileSync(join(root, "TODO.md"), "utf8")).toBe(
    "- [x] **hunter2hunter2**: log in with hunter2hunter2\n",
  );
  rmSync(root, { recursive: true });
});

/** A worker's source, and the tasks that were marked where they came from. */
function submitted(identity: SourceIdentity): {
  readonly source: TaskSource;
  readonly marked: readonly string[];
} {
  const marked: string[] = [];
  const opened: TaskSource = {
    ...createGoalSource("x"),
    mark: async (task) => void marked.push(task),
    closingWords: (task) => `Closes ${task}`,
  };
  const source = submittedSource(
    () => ({ identity, plan: { source: identity, tasks: [] } }),
    () => opened,
  );
  return { source, marked };
}

test("issues are marked by the worker whose merge it was", async () => {
  const { source, marked } = submitted({ kind: "github", label: "github:ralph", path: null });
  await source.mark("issue-1");
  expect(marked).toEqual(["issue-1"]);
  expect(source.closingWords?.("issue-1")).toBe("Closes issue-1");
});

test("a file is not: its mark comes to the base with the merge", async () => {
  const { source, marked } = submitted({ kind: "checklist", label: "TODO.md", path: "TODO.md" });
  await source.mark("a");
  expect(marked).toEqual([]);
});

test("a source that turns to another list is shown as that list", () => {
  let list = "TODO.md";
  const source = submittedSource(
    () => {
      const identity = { kind: "checklist", label: list, path: list } as const;
      return { identity, plan: { source: identity, tasks: [] } };
    },
    ({ path }) => createFileSource({ root: "/nowhere", path: path ?? "" }, CHECKLIST),
  );
  const shown = redactingSource(source, (text) => text);
  list = "other.md";
  expect(shown.identity.path).toBe("other.md");
  expect(shown.files.map(({ path }) => path)).toEqual(source.files.map(({ path }) => path));
});
