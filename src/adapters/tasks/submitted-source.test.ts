import { expect, test } from "vitest";
import type { SourceIdentity } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { createGoalSource } from "./goal-source.ts";
import { submittedSource } from "./submitted-source.ts";

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
  const { source, marked } = submitted({ kind: "task-list", label: "tasks.yaml", path: "tasks.yaml" });
  await source.mark("a");
  expect(marked).toEqual([]);
});
