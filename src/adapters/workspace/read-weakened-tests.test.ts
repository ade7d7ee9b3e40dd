import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { requestFrom } from "../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import type { CollectRequest, Snapshot } from "../../engine/ports.ts";
import { openCheckout } from "./checkout.ts";
import type { Git } from "../git/git.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";
import { readWeakenedTests } from "./read-weakened-tests.ts";

const TEST =
  'import { expect, test } from "vitest";\n\ntest("adds", () => {\n  expect(1 + 1).toBe(2);\n});\n';
const SKIPPED = TEST.replace("test(", "test.skip(");

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(async () => {
  repository = temporaryRepository();
  repository.write("src/add.test.ts", TEST);
  repository.write("src/übung mit.test.ts", TEST.replace("adds", "exercises"));
  repository.commit();
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

async function weakened(over: Partial<CollectRequest> = {}): Promise<readonly string[]> {
  const evidence = await workspace.collect({ ...requestFrom(from, "TODO.md"), ...over });
  return evidence.weakened.map(({ path }) => path);
}

test.each(["ralph", "agent"] as const)("a skipped test is seen when %s commits", async (commit) => {
  repository.write("src/add.test.ts", SKIPPED);
  expect(await weakened({ commit })).toEqual(["src/add.test.ts"]);
});

test("also one that the agent has committed, by any name", async () => {
  repository.write("src/übung mit.test.ts", SKIPPED.replace("adds", "exercises"));
  repository.commit();
  expect(await weakened()).toEqual(["src/übung mit.test.ts"]);
});

test("also one that an earlier iteration of the task weakened, but not an earlier task", async () => {
  repository.write("src/add.test.ts", SKIPPED);
  await weakened();
  const second = await workspace.snapshot();
  expect(await weakened({ iteration: 2, from: second })).toEqual(["src/add.test.ts"]);
  expect(await weakened({ iteration: 3, from: second, taskBase: second.head })).toEqual([]);
});

test("a deleted test is seen, one that moved is not", async () => {
  repository.remove("src/add.test.ts");
  expect(await weakened()).toEqual(["src/add.test.ts"]);
  repository.write("test/add.test.ts", TEST);
  expect(await weakened({ iteration: 2 })).toEqual([]);
});

test("a test that became a link is what the link leads to", async () => {
  repository.write("src/empty.ts", "export {};\n");
  repository.remove("src/add.test.ts");
  symlinkSync("empty.ts", join(repository.root, "src/add.test.ts"));
  expect(await weakened()).toEqual(["src/add.test.ts"]);
});

test("other line ends are no weakening", async () => {
  repository.write("src/add.test.ts", `${TEST.replaceAll("\n", "\r\n")}// more\r\n`);
  expect(await weakened()).toEqual([]);
});

test("a new test, and one of a repository without a first commit, have nothing before", async () => {
  repository.write("src/new.test.ts", SKIPPED);
  repository.write("src/odd\nname.test.ts", SKIPPED);
  expect(await weakened()).toEqual([]);
  expect(await weakened({ iteration: 2, taskBase: null })).toEqual([]);
});

test("a file that is too big is left out, the others are not", async () => {
  repository.write("src/add.test.ts", `${SKIPPED}//${"x".repeat(512 * 1024)}\n`);
  repository.write("src/übung mit.test.ts", SKIPPED.replace("adds", "exercises"));
  expect(await weakened()).toEqual(["src/übung mit.test.ts"]);
});

test("git is not asked when no test changed", async () => {
  const checkout = await openCheckout(repository.root, ".ralph");
  const fail = (): never => {
    throw new Error("git was asked");
  };
  const git: Git = { run: fail, start: fail, ask: fail, must: fail };
  expect(await readWeakenedTests({ ...checkout, git }, from.head, ["src/main.ts"])).toEqual([]);
  await expect(readWeakenedTests({ ...checkout, git }, from.head, ["src/a.test.ts"])).rejects.toThrow(
    "asked",
  );
});
