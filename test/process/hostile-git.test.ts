import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../contract/workspace.contract.ts";
import { temporaryRepository, type TemporaryRepository } from "../fixtures/temporary-repository.ts";
import type { Evidence } from "../../src/core/verdict/evidence.ts";
import type { Snapshot } from "../../src/engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "../../src/adapters/git/workspace/git-workspace.ts";
import { createGit } from "../../src/adapters/git/git.ts";
import { NO_BELONGINGS } from "../../src/core/agents.ts";
import type { AgentStart } from "../../src/adapters/process/agent-sandbox.ts";
import { createBubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import type { Sandbox } from "../../src/adapters/sandbox/sandbox.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;
let spy: string;
let mark: string;

beforeEach(async () => {
  repository = temporaryRepository();
  const { root } = repository;
  mark = join(root, "..", "mark");
  spy = join(root, ".git", "evil", "spy.sh");
  repository.write(".git/evil/spy.sh", `#!/bin/sh\necho "$0 $*" >> '${mark}'\nexit 1\n`);
  chmodSync(spy, 0o755);
  repository.write("a.txt", "one\n");
  repository.commit("files");
  workspace = createGitWorkspace({ root, ralphDir: join(root, ".ralph") });
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

/** What an agent has at hand; in a sandbox most of it fails, and it goes on. */
const PRELUDE = `
put() { git config --add "$1" "\${2-$SPY}"; }
attribute() { echo "* $1" > .gitattributes; }
hooks() { for name; do cp "$SPY" .git/hooks/$name; done; }
inside() { git -C nested -c user.name=a -c user.email=a@b "$@"; }
fill() { echo one > nested/a.txt; inside add a.txt; inside commit -qm x; }
nest() { git init -q nested; fill; }
change() { echo "* filter=x" > nested/.gitattributes; echo two > nested/a.txt; }
`;

/** Each way by which git's manual has a repository start a program, and how an agent makes git take it. */
const STARTS: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "put core.fsmonitor"],
  ["core.hooksPath", 'cp "$SPY" .git/evil/pre-commit; put core.hooksPath "$PWD/.git/evil"'],
  ["hooks", "hooks pre-commit post-index-change reference-transaction"],
  ["core.editor", "put core.editor; put sequence.editor"],
  ["core.pager", "put core.pager; put pager.status; put pager.diff"],
  ["alias", 'for name in status diff commit diff-tree; do put alias.$name "!$SPY"; done'],
  ["diff.external", "put diff.external"],
  ["diff.*.command", "put diff.x.command; attribute diff=x"],
  ["diff.*.textconv", "put diff.x.textconv; attribute diff=x"],
  ["merge.*.driver", 'put merge.x.driver "$SPY %A"; attribute merge=x'],
  ["filter.*.clean", "put filter.x.clean; attribute filter=x"],
  ["filter.*.smudge", "put filter.x.smudge; attribute filter=x"],
  ["filter.*.process", "put filter.x.process; attribute filter=x"],
  ["info/attributes", 'put filter.x.clean; echo "* filter=x" > .git/info/attributes'],
  ["gpg.program", "put commit.gpgSign true; put log.showSignature true; put gpg.program"],
  ["gpg.*.program", "put gpg.format ssh; put commit.gpgSign true; put gpg.ssh.program"],
  ["core.sshCommand", "put core.sshCommand; put core.gitProxy; put core.askPass"],
  ["credential.helper", 'put credential.helper "!$SPY"'],
  ["core.alternateRefsCommand", "put core.alternateRefsCommand"],
  ["uploadpack.packObjectsHook", "put uploadpack.packObjectsHook"],
  ["gc.recentObjectsHook", "put gc.recentObjectsHook"],
  ["trailer.*.command", "put trailer.x.command"],
  ["include.path", 'printf "[core]\\n\\tfsmonitor = $SPY\\n" > .git/more; put include.path more'],
  [
    "includeIf.*.path",
    'git config -f .git/more filter.x.clean "$SPY"; put includeIf.gitdir:**.path more; attribute filter=x',
  ],
  [
    "config.worktree",
    'put extensions.worktreeConfig true; git config -f .git/config.worktree filter.x.clean "$SPY"; attribute filter=x',
  ],
  [
    "commondir",
    'git clone -q --bare . .git/other; git config -f .git/other/config filter.x.clean "$SPY"; attribute filter=x; echo other > .git/commondir',
  ],
  [
    "promisor remote",
    `put remote.evil.promisor true; put remote.evil.url .; put remote.evil.uploadpack; put extensions.partialClone evil
    git update-index --add --cacheinfo 100644,${"1".repeat(40)},gone.txt`,
  ],
  ["nested repository", "nest; inside config core.fsmonitor $SPY"],
  [
    "gitlink",
    "nest; inside config core.fsmonitor $SPY; inside config filter.x.clean $SPY; git add nested; change",
  ],
  [
    "submodule that .gitmodules asks to look into",
    `nest; git add nested
    printf '[submodule "nested"]\n\tpath = nested\n\turl = ./x\n\tignore = none\n' > .gitmodules
    git add .gitmodules; git commit -qm 'a link'
    inside config filter.x.clean $SPY; put submodule.nested.update "!$SPY"; change`,
  ],
  [
    "submodule whose git directory is in ours",
    `git init -q --separate-git-dir .git/modules/nested nested; fill; git add nested
    inside config core.fsmonitor $SPY; inside config filter.x.clean $SPY; change`,
  ],
];

/** Runs what an agent does, and forgets what it has started itself. */
async function act(script: string, place: "outside" | "in a sandbox"): Promise<void> {
  const { root } = repository;
  const { PATH = "" } = process.env;
  const identity = ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Agent"],
    [`GIT_${who}_EMAIL`, "agent@example.com"],
  ]);
  const env = { PATH, HOME: join(root, "../home"), SPY: spy, ...Object.fromEntries(identity) };
  const command = ["/bin/sh", "-c", PRELUDE + script];
  const start = { ...startIn(root), command, env };
  const made = place === "outside" ? { command, env } : await sandboxOf(root).around(start);
  const [program = "", ...args] = made.command;
  const { status, stderr } = spawnSync(program, args, { cwd: root, env: made.env, encoding: "utf8" });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  if ("close" in made) await made.close?.();
  rmSync(mark, { force: true });
}

function startIn(root: string): Omit<AgentStart, "command" | "env"> {
  const folder = join(root, "..", "iteration");
  mkdirSync(folder);
  const own = { agent: "sh", given: [], marker: "", belongings: NO_BELONGINGS };
  return { ...own, workspace: root, folder, promptFile: null };
}

function sandboxOf(root: string): Sandbox {
  const gitDir = join(root, ".git");
  return createBubblewrap({
    settings: { kind: "bubblewrap", network: "off", image: null, read: [], write: [], env: [] },
    gitDir,
    alternates: [],
    ralphDir: join(root, ".ralph"),
    stateFile: join(gitDir, "ralph/state.db"),
    ownPlaces: [],
    homes: join(root, "../homes"),
    bridge: [],
    user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  });
}

const PLACES = ["outside", ...(process.platform === "linux" ? (["in a sandbox"] as const) : [])] as const;

describe.each(PLACES)("no git of ours starts what an agent %s put there:", (place) => {
  test.each(STARTS)("%s", async (_name, script) => {
    await act(`${script}\necho two > a.txt; echo new > new.txt`, place);
    await iterate();
    expect(existsSync(mark) ? readFileSync(mark, "utf8") : "").toBe("");
    expect(repository.git("show", "HEAD:a.txt")).toBe("two");
    expect((await workspace.snapshot()).branch).toBe("main");
  });
});

test("with git.hooks only the operator's hooks run, wherever an agent points to", async () => {
  await act('cp "$SPY" .git/evil/pre-commit; put core.hooksPath "$PWD/.git/evil"', "outside");
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
