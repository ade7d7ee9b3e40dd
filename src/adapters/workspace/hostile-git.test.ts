import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import type { Evidence } from "../../core/report/evidence.ts";
import type { Snapshot } from "../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";
import { createGit } from "../git/git.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;
let spy: string;
let mark: string;

beforeEach(async () => {
  repository = temporaryRepository();
  mark = join(repository.root, "..", "mark");
  spy = join(repository.root, "..", "spy.sh");
  repository.write("../spy.sh", `#!/bin/sh\necho "$0 $*" >> '${mark}'\nexit 1\n`);
  chmodSync(spy, 0o755);
  repository.write("a.txt", "one\n");
  repository.write("b.txt", "one\n");
  repository.commit("files");
  workspace = createGitWorkspace({ root: repository.root, ralphDir: join(repository.root, ".ralph") });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

/** All that Ralph asks git for around an iteration, as soon as an agent runs. */
async function iterate(how: { readonly hooks?: boolean } = {}): Promise<Evidence> {
  const request = { ...requestFrom(from, "TODO.md"), taskBase: from.head, ...how };
  await workspace.hasWritten(request);
  await workspace.fingerprint();
  workspace.lookAhead();
  const evidence = await workspace.collect(request);
  await workspace.patch(from.head, evidence.headAfter);
  await workspace.commitMark({ ...request, path: "a.txt" });
  return evidence;
}

function set(key: string, value = spy): void {
  repository.git("config", "--add", key, value);
}

function nest(name: string): (...args: string[]) => void {
  const inside = (...args: string[]): void =>
    void repository.git("-C", name, "-c", "user.name=a", "-c", "user.email=a@b", ...args);
  repository.git("init", "--quiet", name);
  repository.write(`${name}/a.txt`, "one\n");
  inside("add", "a.txt");
  inside("commit", "--quiet", "-m", "x");
  return inside;
}

const attribute = (text: string) => (): void => repository.write(".gitattributes", `* ${text}\n`);

/** Each way by which git's manual has a repository start a program, and what makes git take it. */
const STARTS: readonly (readonly [string, () => void])[] = [
  ["core.fsmonitor", () => set("core.fsmonitor")],
  ["core.hooksPath", () => set("core.hooksPath", dirname(spy))],
  ["hooks", () => ["pre-commit", "post-index-change", "reference-transaction"].forEach(hook)],
  ["core.editor", () => ["core.editor", "sequence.editor"].forEach((key) => set(key))],
  ["core.pager", () => ["core.pager", "pager.status", "pager.diff"].forEach((key) => set(key))],
  [
    "alias",
    () => ["status", "diff", "commit", "diff-tree"].forEach((name) => set(`alias.${name}`, `!${spy}`)),
  ],
  ["diff.external", () => set("diff.external")],
  ["diff.*.command", () => (set("diff.x.command"), attribute("diff=x")())],
  ["diff.*.textconv", () => (set("diff.x.textconv"), attribute("diff=x")())],
  ["merge.*.driver", () => (set("merge.x.driver", `${spy} %A`), attribute("merge=x")())],
  ["filter.*.clean", () => (set("filter.x.clean"), attribute("filter=x")())],
  ["filter.*.smudge", () => (set("filter.x.smudge"), attribute("filter=x")())],
  ["filter.*.process", () => (set("filter.x.process"), attribute("filter=x")())],
  [
    "info/attributes",
    () => (set("filter.x.clean"), repository.write(".git/info/attributes", "* filter=x\n")),
  ],
  [
    "gpg.program",
    () => (set("commit.gpgSign", "true"), set("log.showSignature", "true"), set("gpg.program")),
  ],
  ["gpg.*.program", () => (set("gpg.format", "ssh"), set("commit.gpgSign", "true"), set("gpg.ssh.program"))],
  ["core.sshCommand", () => ["core.sshCommand", "core.gitProxy", "core.askPass"].forEach((key) => set(key))],
  ["credential.helper", () => set("credential.helper", `!${spy}`)],
  ["core.alternateRefsCommand", () => set("core.alternateRefsCommand")],
  ["uploadpack.packObjectsHook", () => set("uploadpack.packObjectsHook")],
  ["gc.recentObjectsHook", () => set("gc.recentObjectsHook")],
  ["trailer.*.command", () => set("trailer.x.command")],
  [
    "include.path",
    () => (repository.write(".git/more", `[core]\n\tfsmonitor = ${spy}\n`), set("include.path", "more")),
  ],
  [
    "includeIf.*.path",
    () => (
      repository.write(".git/more", `[filter "x"]\n\tclean = ${spy}\n`),
      set("includeIf.gitdir:**.path", "more"),
      attribute("filter=x")()
    ),
  ],
  [
    "config.worktree",
    () => (
      set("extensions.worktreeConfig", "true"),
      repository.write(".git/config.worktree", `[filter "x"]\n\tclean = ${spy}\n`),
      attribute("filter=x")()
    ),
  ],
  [
    "commondir",
    () => {
      repository.git("clone", "--quiet", "--bare", ".", ".git/evil");
      repository.git("config", "--file", ".git/evil/config", "filter.x.clean", spy);
      attribute("filter=x")();
      repository.write(".git/commondir", "evil\n");
    },
  ],
  [
    "promisor remote",
    () => {
      for (const [key, value] of [
        ["promisor", "true"],
        ["url", "."],
        ["uploadpack", spy],
      ] as const)
        set(`remote.evil.${key}`, value);
      set("extensions.partialClone", "evil");
      repository.git("update-index", "--add", "--cacheinfo", `100644,${"1".repeat(40)},gone.txt`);
    },
  ],
  [
    "nested repository",
    () => {
      const inside = nest("nested");
      inside("config", "core.fsmonitor", spy);
    },
  ],
  [
    "gitlink",
    () => {
      const inside = nest("nested");
      inside("config", "core.fsmonitor", spy);
      inside("config", "filter.x.clean", spy);
      repository.git("add", "nested");
      repository.write("nested/.gitattributes", "* filter=x\n");
      repository.write("nested/a.txt", "two\n");
    },
  ],
  [
    "submodule that .gitmodules asks to look into",
    () => {
      const inside = nest("nested");
      repository.git("add", "nested");
      repository.write(
        ".gitmodules",
        '[submodule "nested"]\n\tpath = nested\n\turl = ./x\n\tignore = none\n',
      );
      repository.commit("a link");
      inside("config", "filter.x.clean", spy);
      set("submodule.nested.update", `!${spy}`);
      repository.write("nested/.gitattributes", "* filter=x\n");
      repository.write("nested/a.txt", "two\n");
    },
  ],
];

function hook(name: string): void {
  repository.write(`.git/hooks/${name}`, readFileSync(spy));
  chmodSync(join(repository.root, ".git/hooks", name), 0o755);
}

describe("no git of ours starts what an agent put there:", () => {
  test.each(STARTS)("%s", async (_name, put) => {
    put();
    repository.write("a.txt", "two\n");
    repository.write("new.txt", "new\n");
    await iterate();
    expect(existsSync(mark) ? readFileSync(mark, "utf8") : "").toBe("");
    expect((await workspace.snapshot()).branch).toBe("main");
  });
});

test("with git.hooks only the operator's hooks run, wherever an agent points to", async () => {
  set("core.hooksPath", dirname(spy));
  renameSync(spy, join(dirname(spy), "pre-commit"));
  repository.write(".git/hooks/pre-commit", `#!/bin/sh\ntouch '${mark}.operator'\n`);
  chmodSync(join(repository.root, ".git/hooks/pre-commit"), 0o755);
  repository.write("a.txt", "two\n");
  await iterate({ hooks: true });
  expect([existsSync(mark), existsSync(`${mark}.operator`)]).toEqual([false, true]);
});

test("the operator's own filter goes on working, and settings beside it stay", async () => {
  repository.git("config", "filter.x.clean", "tr a-z A-Z");
  repository.write(".git/info/attributes", "*.up filter=x\n");
  from = await workspace.snapshot();
  repository.git("config", "user.nickname", "x");
  repository.write("new.up", "loud\n");
  expect((await iterate()).hidden).toEqual([]);
  expect(repository.git("show", "HEAD:new.up")).toBe("LOUD");
  expect(repository.git("config", "user.nickname")).toBe("x");
});

/** Files that git writes to, also through a link. */
const WRITTEN = [
  "COMMIT_EDITMSG",
  "ORIG_HEAD",
  "FETCH_HEAD",
  "MERGE_MSG",
  "logs/HEAD",
  "logs/refs/heads/main",
  "logs/refs/heads",
  "logs",
  "refs/heads/other",
  "refs/ralph",
  "info/exclude",
  "objects/info",
  "objects/pack",
  "objects/00",
];

test.each(WRITTEN)("nothing is written through a link at .git/%s", async (name) => {
  const outside = join(repository.root, "..", "outside");
  const isFolder = !/HEAD|MSG|main|other|exclude/.test(name);
  if (isFolder) mkdirSync(outside);
  else repository.write("../outside", "precious\n");
  const path = join(repository.root, ".git", name);
  if (name === "objects/pack" || name === "objects/info") rmSync(path, { recursive: true });
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(outside, path);
  repository.write("a.txt", "two\n");
  const { hidden } = await iterate();
  expect(hidden).toContain(`.git/${name} was a link`);
  if (isFolder) expect(createGit(outside).run(["status"])).toBeDefined();
  else expect(readFileSync(outside, "utf8")).toBe("precious\n");
});

test.each(["HEAD", "index", "refs", "objects"])("a link at .git/%s is refused", async (name) => {
  renameSync(join(repository.root, ".git", name), join(repository.root, "../moved"));
  symlinkSync(join(repository.root, "../moved"), join(repository.root, ".git", name));
  await expect(iterate()).rejects.toThrow(/was replaced with a link to/);
});

test("a link from before a crash is gone when the repository is opened", async () => {
  repository.write("../outside", "precious\n");
  rmSync(join(repository.root, ".git/COMMIT_EDITMSG"));
  symlinkSync(join(repository.root, "../outside"), join(repository.root, ".git/COMMIT_EDITMSG"));
  workspace = createGitWorkspace({ root: repository.root, ralphDir: join(repository.root, ".ralph") });
  await workspace.snapshot();
  repository.write("a.txt", "two\n");
  await iterate();
  expect(repository.read("../outside")).toBe("precious\n");
});
