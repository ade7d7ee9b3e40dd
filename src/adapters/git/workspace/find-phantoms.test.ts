import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { CollectRequest, Snapshot } from "../../../engine/ports.ts";
import { openCheckout } from "./checkout.ts";
import { findPhantoms } from "./collect-evidence.ts";
import type { Git } from "../git.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(async () => {
  repository = temporaryRepository();
  repository.write(".gitignore", "dist/\n");
  repository.write("packages/ui/src/old.ts", "old\n");
  repository.commit();
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

async function phantoms(
  cited: readonly string[],
  over: Partial<CollectRequest> = {},
): Promise<readonly string[]> {
  return (await workspace.collect({ ...requestFrom(from, "TODO.md"), cited, ...over })).phantoms;
}

describe("a file that was written is real in every spelling", () => {
  const written = "packages/ui/src/new file.ts";
  const decomposed = "docs/u\u0308bung.md";
  const table: [string, () => string][] = [
    ["from the root", () => written],
    ["with a dot in front", () => `./${written}`],
    ["with a detour", () => "packages/../packages/ui//src/new file.ts"],
    ["from a sub-folder", () => "src/new file.ts"],
    ["by its name", () => "new file.ts"],
    ["from above the root", () => `repository/${written}`],
    ["absolute", () => join(repository.root, written)],
    ["absolute in a container", () => `/workspace/${written}`],
    ["through a link to the root", () => join(linkToRoot(), written)],
    ["with composed letters", () => "docs/\u00FCbung.md"],
    ["with decomposed letters", () => decomposed],
  ];
  test.each(table)("%s", async (_name, spell) => {
    repository.write(written, "new\n");
    repository.write(decomposed, "new\n");
    expect(await phantoms([spell()])).toEqual([]);
  });

  test("also when it is one of thousands", async () => {
    for (let n = 0; n < 400; n += 1) repository.write(`many/${n}.txt`, `${n}\n`);
    expect(await phantoms(["many/399.txt", "many/400.txt"])).toEqual(["many/400.txt"]);
  });
});

describe("a file that was not written is a phantom, as it was cited", () => {
  const table: [string, () => string][] = [
    ["that does not exist", () => "src/none.ts"],
    ["that is unchanged", () => "src/main.ts"],
    ["from a sub-folder in which it is unchanged", () => "src/old.ts"],
    ["absolute and unchanged", () => join(repository.root, "src/main.ts")],
    ["absolute in a container, unchanged", () => "/workspace/src/main.ts"],
    ["absolute in a container, nowhere", () => "/workspace/src/none.ts"],
    ["through a link to the root, unchanged", () => join(linkToRoot(), "src/main.ts")],
    ["above the root, nowhere", () => "../other/none.ts"],
    ["below a file", () => "README.md/none.ts"],
    ["whose name only ends alike", () => "old-new.ts"],
    ["too long to exist", () => `${"x".repeat(290)}.ts`],
    ["with a pathspec's magic", () => ":(exclude)none.ts"],
  ];
  test.each(table)("%s", async (_name, spell) => {
    repository.write("packages/ui/new.ts", "new\n");
    const cited = spell();
    expect(await phantoms([cited, "packages/ui/new.ts"])).toEqual([cited]);
  });

  test("at most fifty are named", async () => {
    expect(await phantoms(Array.from({ length: 60 }, (_, n) => `none-${n}.ts`))).toHaveLength(50);
  });
});

describe("what nobody can hold against the agent is real", () => {
  const table: [string, () => string, Partial<CollectRequest>?][] = [
    ["the task source", () => "TODO.md"],
    ["the task source in a container", () => "/workspace/TODO.md"],
    ["what was dirty before the run", () => "mine.txt", { leaveAlone: ["mine.txt"] }],
    ["a folder that was dirty before the run", () => "mine/a.txt", { leaveAlone: ["mine/"] }],
    ["our own folder", () => ".ralph/progress.txt"],
    ["our own folder in a container", () => "/workspace/.ralph/anything.md"],
    ["a document of ours by its name", () => write(".ralph/progress.txt", "progress.txt")],
    ["built output", () => write("dist/main.js", "dist/main.js")],
    ["built output in a container", () => write("dist/main.js", "/workspace/dist/main.js")],
    ["built output of a sub-folder", () => built("packages/ui/dist/main.js", "dist/main.js")],
    ["a file outside of the repository", () => outside()],
    ["a file beside the repository", () => (outside(), "../outside.txt")],
    [
      "what an earlier iteration changed",
      () => "src/main.ts",
      { earlier: { from: null, paths: ["src/main.ts"] } },
    ],
    [
      "what was put back",
      () => write("src/main.ts", "src/main.ts"),
      { isProtected: (path) => path === "src/main.ts" },
    ],
    ["white space", () => write("src/main.ts", "src/main.ts", "  export const answer = 42;\n\n")],
    [
      "white space left uncommitted",
      () => write("src/main.ts", "main.ts", "export const answer = 42; \n"),
      { commit: "agent" },
    ],
    ["a mode", () => executable("src/main.ts")],
    ["a folder", () => "packages/ui"],
  ];
  test.each(table)("%s", async (_name, act, over = {}) => {
    const cited = act();
    expect(await phantoms([cited], over)).toEqual([]);
  });

  test("what an iteration of the task wrote and a later one took back", async () => {
    repository.write("src/main.ts", "export const answer = 43;\n");
    await phantoms([]);
    repository.write("src/main.ts", "export const answer = 42;\n");
    const second = { iteration: 2, from: await workspace.snapshot() };
    expect(await phantoms(["src/main.ts"], second)).toEqual([]);
    expect(await phantoms(["src/main.ts"], { iteration: 3, from: await workspace.snapshot() })).toEqual([]);
  });

  test("a file in another repository inside ours, and in a submodule that changed", async () => {
    const other = temporaryRepository();
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub");
    repository.commit();
    from = await workspace.snapshot();
    repository.write("sub/README.md", "changed\n");
    mkdirSync(join(repository.root, "vendor"));
    repository.git("clone", "--quiet", other.root, "vendor/copy");
    const cited = [
      "sub/README.md",
      "/workspace/sub/README.md",
      "vendor/copy/README.md",
      "copy/README.md",
      "elsewhere/x.md",
    ];
    expect(await phantoms(cited)).toEqual(["elsewhere/x.md"]);
    other.dispose();
  });

  test("what was written on a branch that was left behind", async () => {
    repository.git("checkout", "--quiet", "-b", "elsewhere", "HEAD~1");
    repository.write("a.txt", "one\n");
    expect(await phantoms(["a.txt"])).toEqual([]);
  });
});

describe("where there is little to look at", () => {
  test("a repository without a first commit has phantoms too", async () => {
    repository.dispose();
    repository = temporaryRepository({ unborn: true });
    workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
    from = await workspace.snapshot();
    expect(await phantoms(["a.txt"])).toEqual(["a.txt"]);
    repository.write("a.txt", "one\n");
    expect(await phantoms(["a.txt", "b.txt"])).toEqual(["b.txt"]);
  });

  test("git is not asked when nothing is doubtful", async () => {
    const checkout = await openCheckout(repository.root, ".ralph");
    const fail = (): never => {
      throw new Error("git was asked");
    };
    const git: Git = { run: fail, start: fail, ask: fail, must: fail, records: fail };
    const about = { written: [], taskBase: from.head, ignore: [], leaveAlone: [] };
    const now = { changed: ["src/main.ts"], head: "0".repeat(40), whose: () => "agent" as const };
    const find = (...cited: string[]): Promise<readonly string[]> =>
      findPhantoms({ ...checkout, git }, { ...about, cited }, now);
    expect(await find("main.ts")).toEqual([]);
    await expect(find("none.ts")).rejects.toThrow("asked");
  });
});

function linkToRoot(): string {
  const link = join(repository.root, "..", "link");
  symlinkSync(repository.root, link);
  return link;
}

function write(path: string, cited: string, content = "changed\n"): string {
  repository.write(path, content);
  return cited;
}

/** Beside a file that tells in which folder the agent works. */
function built(path: string, cited: string): string {
  repository.write("packages/ui/package.json", "{}\n");
  return write(path, cited);
}

function outside(): string {
  repository.write("../outside.txt", "one\n");
  return join(repository.root, "../outside.txt");
}

function executable(path: string): string {
  chmodSync(join(repository.root, path), 0o755);
  return path;
}
