import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { WorkToday } from "../../../core/views/verification.ts";
import { verifyWork } from "./verify-work.ts";

let repository: TemporaryRepository;
let base: string;
let commit: string;

/** The task made one file, changed one and deleted one. */
const PATHS = ["new.ts", "src/main.ts", "old.ts"];

beforeEach(() => {
  repository = temporaryRepository();
  repository.write("old.ts", "old\n");
  repository.write("a.test.ts", 'test("a", () => {\n  expect(a()).toBe(1);\n});\n');
  base = repository.commit("base");
  repository.write("new.ts", "new\n");
  repository.write("src/main.ts", "export const answer = 43;\n");
  repository.remove("old.ts");
  commit = repository.commit("the work");
});

afterEach(() => repository.dispose());

function today(
  more: { commit?: string | null; base?: string | null; paths?: string[] } = {},
): Promise<WorkToday> {
  const place = { root: repository.root, ralphDir: `${repository.root}/.ralph` };
  return verifyWork(place, { commit, base, paths: PATHS, ...more });
}

const WELL: WorkToday = { commit: "in-history", undone: [], gone: [], checkFiles: [] };

describe("work that is there", () => {
  test("as it was accepted", async () => {
    expect(await today()).toEqual(WELL);
  });

  test("with more work on top, committed or not", async () => {
    repository.write("src/main.ts", "export const answer = 44;\n");
    repository.commit("more");
    repository.write("new.ts", "newer\n");
    expect(await today()).toEqual(WELL);
  });

  test("though an earlier row of iterations had done a part of it before the base", async () => {
    expect(await today({ base: commit })).toEqual(WELL);
  });

  test("though nobody ever committed it", async () => {
    repository.write("loose.ts", "loose\n");
    expect(await today({ paths: ["loose.ts"] })).toEqual(WELL);
    repository.remove("loose.ts");
    expect(await today({ paths: ["loose.ts"] })).toMatchObject({ gone: ["loose.ts"] });
  });

  test("under names that need care", async () => {
    const names = ["a b.ts", "ä.ts", ":(glob)*.ts", 'quo"te.ts', "-x.ts"];
    for (const name of names) repository.write(name, "x\n");
    const accepted = repository.commit("names");
    expect(await today({ base: commit, commit: accepted, paths: names })).toEqual(WELL);
    repository.git("revert", "--no-edit", accepted);
    expect((await today({ base: commit, commit: accepted, paths: names })).gone).toEqual(names);
  });
});

describe("work that is not", () => {
  test("after a revert: everything is back, and what was new is gone", async () => {
    repository.git("revert", "--no-edit", "HEAD");
    expect(await today()).toMatchObject({
      commit: "in-history",
      undone: ["src/main.ts", "old.ts"],
      gone: ["new.ts"],
    });
  });

  test("after somebody put one file back without a commit", async () => {
    repository.git("checkout", base, "--", "src/main.ts");
    expect(await today()).toMatchObject({ undone: ["src/main.ts"], gone: [] });
  });

  test("after somebody deleted a file that the task had changed", async () => {
    repository.remove("src/main.ts");
    expect(await today()).toMatchObject({ undone: [], gone: ["src/main.ts"] });
  });

  test("on a branch that does not have the commit", async () => {
    repository.git("checkout", "--quiet", "-b", "other", base);
    expect(await today()).toMatchObject({ commit: "elsewhere" });
  });

  test("in a repository that lost the commit or the base", async () => {
    expect(await today({ commit: "0".repeat(40) })).toMatchObject({ commit: "gone" });
    expect(await today({ base: "0".repeat(40) })).toEqual(WELL);
    expect(await today({ commit: null, base: null })).toMatchObject({ commit: "none", gone: ["old.ts"] });
  });
});

test("check files that were changed since are named", async () => {
  repository.write("a.test.ts", 'test.skip("a", () => {\n  expect(a()).toBe(1);\n});\n');
  expect((await today()).checkFiles).toEqual(["a.test.ts"]);
});
