import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { NO_LEFTOVERS, type Evidence, type FileSpan, type Leftover } from "../../../core/verdict/evidence.ts";
import type { CollectRequest, Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(async () => {
  repository = temporaryRepository();
  workspace = createGitWorkspace({ root: repository.root, ralphDir: join(repository.root, ".ralph") });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

function collect(over: Partial<CollectRequest> = {}): Promise<Evidence> {
  return workspace.collect({ ...requestFrom(from, "TODO.md"), ...over });
}

/** When gates ran that did this. */
async function gates(act: () => void): Promise<FileSpan | null> {
  const began = await workspace.beforeGates();
  act();
  return (await workspace.leftoversAfterGates(NO_LEFTOVERS, began)).gatesRan;
}

describe("what the gates leave", () => {
  test("is neither committed nor counted as the next agent's work, until the agent touches it", async () => {
    repository.write("a.txt", "one\n");
    await collect();
    const gatesRan = await gates(() => {
      repository.write("coverage/report.txt", "90%\n");
      repository.write("src/main.ts", "formatted\n");
      repository.remove("README.md");
    });
    const second = { iteration: 2, task: "task-002", from: await workspace.snapshot() };
    const found = await collect({ ...second, taskBase: second.from.head, gatesRan });
    expect(found).toMatchObject({
      changed: { files: 0 },
      changedSinceTaskBegan: { files: 0 },
      uncommitted: [],
      headAfter: second.from.head,
    });
    const { leftByGates } = found;
    expect(pathsOf(leftByGates).toSorted()).toEqual(["README.md", "coverage/report.txt", "src/main.ts"]);
    const base = { ...second, taskBase: second.from.head, leftByGates };
    repository.write("src/main.ts", "formatted, then changed\n");
    expect((await collect({ ...base, iteration: 3 })).changed.paths).toEqual(["src/main.ts"]);
    expect(repository.git("status", "--porcelain")).toBe(" D README.md\n?? coverage/");
  });

  test("is told from what the agent writes straight after them, and before", async () => {
    for (let round = 0; round < 10; round += 1) {
      repository.write(`before-${round}`, "by the agent, ignored until now\n");
      const gatesRan = await gates(() => repository.write("report", `${round}\n`));
      repository.write(`after-${round}`, "by the agent\n");
      const { changed } = await collect({ from: await workspace.snapshot(), gatesRan });
      expect(changed.paths.toSorted()).toEqual([`after-${round}`, `before-${round}`]);
    }
  });

  test("does not hide what the agent itself left uncommitted", async () => {
    repository.write("a.txt", "one\n");
    const first = await collect({ commit: "agent" });
    const began = await workspace.beforeGates();
    repository.write("a.txt", "one, formatted\n");
    const left = { ...NO_LEFTOVERS, byAgents: first.uncommitted };
    const { byAgents, gatesRan } = await workspace.leftoversAfterGates(left, began);
    const evidence = await collect({ commit: "agent", iteration: 2, leftBefore: byAgents, gatesRan });
    expect(evidence.leftByGates).toEqual([]);
    expect(pathsOf(evidence.uncommitted)).toEqual(["a.txt"]);
    expect(evidence.changed.files).toBe(0);
    expect(evidence.changedSinceTaskBegan.files).toBe(1);
  });
});

function pathsOf(left: readonly Leftover[]): readonly string[] {
  return left.map(({ path }) => path);
}
