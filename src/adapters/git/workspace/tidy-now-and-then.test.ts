import { afterEach, beforeEach, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { createGitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;

beforeEach(() => {
  repository = temporaryRepository();
  for (const text of ["a", "b", "c"]) {
    repository.write("file.txt", text);
    repository.commit(text);
    repository.git("repack", "--quiet");
  }
  // Git then finds that there is something to do.
  repository.git("config", "gc.autoPackLimit", "1");
});
afterEach(() => repository.dispose());

const packs = (): number => Number(/^packs: (\d+)$/m.exec(repository.git("count-objects", "-v"))?.[1]);

async function collectTwice(): Promise<void> {
  const workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph", tidyEvery: 2 });
  for (const path of ["one", "two"]) {
    const from = await workspace.snapshot();
    repository.write(path, "work");
    await workspace.collect(requestFrom(from, "TODO.md"));
    if (path === "one") expect(packs()).toBe(3);
  }
}

test("git tidies up after so many iterations, and before they go on", async () => {
  await collectTwice();
  expect(packs()).toBe(1);
});

test("git does not where the operator does not want it", async () => {
  repository.git("config", "gc.auto", "0");
  await collectTwice();
  expect(packs()).toBe(3);
});
