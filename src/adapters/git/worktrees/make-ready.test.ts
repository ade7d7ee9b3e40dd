import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAlive } from "../../../../test/fixtures/is-alive.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { OpenedWorktree, Worktrees } from "../../../engine/parallel-ports.ts";
import { createWorktrees, type WorktreesOptions } from "./git-worktrees.ts";
import { newRecord, readRecord, writeRecord } from "./registry.ts";

let repository: TemporaryRepository;
let root: string;
let gitDir: string;

beforeEach(() => {
  repository = temporaryRepository();
  root = join(dirname(repository.root), "state/ralph/id/a");
  gitDir = join(repository.root, ".git/worktrees/a");
  repository.write(".gitignore", ".env\nnode_modules/\nbuild/\n.ralph/\n");
  repository.commit("ignore");
});
afterEach(() => repository.dispose());

function create(more: Partial<WorktreesOptions>): Worktrees {
  const stateHome = join(dirname(repository.root), "state");
  const options = { root: repository.root, stateHome, projectId: "id", include: [], setup: "" };
  return createWorktrees({
    ...options,
    env: process.env,
    redact: (text) => text.replaceAll("hush", "***"),
    ...more,
  });
}

function open(more: Partial<WorktreesOptions>): Promise<OpenedWorktree> {
  return create(more).open("a", "main");
}

function gitIn(...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trimEnd();
}

/** What is there now is in another commit than the one that is checked out. */
function commitElsewhere(): void {
  repository.git("switch", "--quiet", "--create", "elsewhere");
  repository.commit("elsewhere");
  repository.git("switch", "--quiet", "main");
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

describe("include", () => {
  test("copies ignored and untracked files with their modes, and nothing else", async () => {
    repository.write(".env", "A=1");
    chmodSync(join(repository.root, ".env"), 0o600);
    repository.write("config/db.local.json", "{}");
    repository.write("config/db.json", "{}");
    repository.write("run.sh", "#!/bin/sh");
    chmodSync(join(repository.root, "run.sh"), 0o755);
    repository.write("src/main.ts", "tracked, and changed");
    const opened = await open({ include: [".env", "config/*.local.json", "/run.sh", "src/main.ts"] });
    expect(opened).toMatchObject({ is: "ready", copied: ["config/db.local.json", "run.sh"] });
    expect(read(".env")).toBe("A=1");
    expect(statSync(join(root, ".env")).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o755);
    expect(existsSync(join(root, "config/db.json"))).toBe(false);
    expect(read("src/main.ts")).toContain("42");
  });

  test("a star does not mean modules, our own folder or git's", async () => {
    for (const path of [
      "node_modules/x/index.js",
      ".ralph/status.json",
      "build/out.js",
      "build/node_modules/y.js",
    ]) {
      repository.write(path, "x");
    }
    mkdirSync(join(repository.root, "vendor"));
    execFileSync("git", ["init", "--quiet"], { cwd: join(repository.root, "vendor") });
    repository.write("vendor/lib.js", "x");
    await open({ include: ["*", "**/.git/**", ".git"] });
    expect(["build/out.js", "vendor/lib.js"].map((path) => existsSync(join(root, path)))).toEqual([
      true,
      true,
    ]);
    expect(
      ["node_modules", ".ralph", "build/node_modules", "vendor/.git"].filter((path) =>
        existsSync(join(root, path)),
      ),
    ).toEqual([]);
    expect(statSync(join(root, ".git")).isFile()).toBe(true);
  });

  test("what is named is copied", async () => {
    repository.write("node_modules/x/index.js", "x");
    repository.write("node_modules/y/index.js", "y");
    repository.write(".ralph/prompt.md", "p");
    await open({ include: ["node_modules/x", "*.js", ".ralph/prompt.md"] });
    expect(read("node_modules/x/index.js")).toBe("x");
    expect(read(".ralph/prompt.md")).toBe("p");
    expect(existsSync(join(root, "node_modules/y"))).toBe(false);
  });

  test("links stay links, and none leads outside", async () => {
    repository.write("build/real.txt", "real");
    const link = (target: string, name: string): void =>
      symlinkSync(target, join(repository.root, "build", name));
    link("real.txt", "inside");
    link("../README.md", "tracked");
    link("/etc/passwd", "absolute");
    link(join(repository.root, "README.md"), "absolute-inside");
    link("../../outside", "outside");
    link("loop", "loop");
    await open({ include: ["build"] });
    expect(readlinkSync(join(root, "build/inside"))).toBe("real.txt");
    expect(read("build/tracked")).toBe("# A project\n");
    for (const name of ["absolute", "absolute-inside", "outside", "loop"]) {
      expect(() => readlinkSync(join(root, "build", name))).toThrow("ENOENT");
    }
  });

  test("a folder that is a link in the commit does not lead the copy outside", async () => {
    const outside = join(dirname(repository.root), "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(repository.root, "config"));
    commitElsewhere();
    repository.write("config/x.local.json", "{}");
    const opened = await create({ include: ["config/*.local.json"] }).open("a", "elsewhere");
    expect(opened).toMatchObject({ is: "ready", copied: [] });
    expect(existsSync(join(outside, "x.local.json"))).toBe(false);
  });

  test("only into a new worktree, and again if that did not come to its end", async () => {
    repository.write(".env", "A=1");
    repository.write("build/x", "x");
    await open({ include: [".env", "build"] });
    rmSync(join(root, ".env"));
    repository.write("build/late", "x");
    await open({ include: [".env", "build"] });
    expect([".env", "build/late"].filter((path) => existsSync(join(root, path)))).toEqual([]);
    writeRecord({ root, gitDir }, { ...newRecord("a"), isFilled: true });
    writeFileSync(join(root, "build/x"), "an agent's");
    await open({ include: [".env", "build"] });
    expect([read(".env"), read("build/x"), read("build/late")]).toEqual(["A=1", "an agent's", "x"]);
  });

  test("copies do not keep a worktree, unless they were changed", async () => {
    repository.write("local.json", "{}");
    const worktrees = create({ include: ["local.json"] });
    await worktrees.open("a", "main");
    expect(gitIn("status", "--porcelain")).toBe("?? local.json");
    expect(await worktrees.list()).toMatchObject([{ isDirty: false }]);
    writeFileSync(join(root, "local.json"), '{"b":2}');
    expect(await worktrees.remove("a")).toBe(false);
  });

  test("what cannot be copied is told", async () => {
    repository.write("config", "a file");
    commitElsewhere();
    repository.write("config/x", "x");
    expect(await create({ include: ["config/x"] }).open("a", "elsewhere")).toMatchObject({
      is: "failed",
      why: expect.stringContaining(`${join(repository.root, "config/x")} could not be copied`) as string,
    });
  });
});

describe("the set-up", () => {
  test("runs once, in the worktree, after the copies", async () => {
    repository.write(".env", "A=1");
    const options = {
      include: [".env"],
      setup: "cat .env >> build.log; pwd >> build.log; echo $B >> build.log",
    };
    const env = { ...process.env, B: "b", GIT_DIR: "/elsewhere" };
    for (let time = 0; time < 2; time += 1)
      expect(await open({ ...options, env })).toMatchObject({ is: "ready" });
    expect(read("build.log")).toBe(`A=1${root}\nb\n`);
  });

  test("git in it means the worktree, whatever a hook of git says about another one", async () => {
    const env = { ...process.env, GIT_DIR: join(repository.root, ".git"), GIT_INDEX_FILE: "index" };
    await open({ env, setup: "git branch --show-current > branch.txt" });
    expect(read("branch.txt")).toBe("ralph/a\n");
  });

  test("a failure is told with the end of its output, and tried again", async () => {
    const setup = "seq 1000; echo 'hush: no network' >&2; test -e ../ok";
    const opened = await open({ setup });
    expect(opened).toMatchObject({ is: "failed", root, branch: "ralph/a" });
    expect("why" in opened && opened.why).toMatch(
      /^the set-up "seq 1000; .*" failed with exit code 1:\n982\n[^]*1000\n\*\*\*: no network$/,
    );
    expect(read("README.md")).toBe("# A project\n");
    writeFileSync(join(root, "../ok"), "");
    expect(await open({ setup })).toMatchObject({ is: "ready" });
  });

  test("one that takes too long is ended, and what it left running", async () => {
    const setup = "sleep 1000 & echo $! > pid; echo waiting; sleep 1000";
    expect(await open({ setup, setupTimeoutMs: 500 })).toMatchObject({
      is: "failed",
      why: `the set-up ${JSON.stringify(setup)} was not over after 0.5s:\nwaiting`,
    });
    expect(isAlive(Number(read("pid")))).toBe(false);
  });

  test("one that succeeds leaves nothing running either", async () => {
    expect(await open({ setup: "sleep 1000 & echo $! > pid" })).toMatchObject({ is: "ready" });
    expect(isAlive(Number(read("pid")))).toBe(false);
  });

  test("it can be stopped", async () => {
    const stop = new AbortController();
    const opening = create({ setup: "touch began; sleep 1000" }).open("a", "main", stop.signal);
    while (!existsSync(join(root, "began"))) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort("cancelled");
    expect(await opening).toMatchObject({
      is: "failed",
      why: expect.stringContaining("was stopped") as string,
    });
    expect(readRecord({ root, gitDir })).toMatchObject({ isSetUp: false, settingUp: null });
  });

  test.each(["open", "clearLeftovers"] as const)("%s ends one whose process was killed", async (how) => {
    await open({});
    const marker = "marker-of-the-dead";
    const left = spawn("sleep", ["1000"], { env: { ...process.env, RALPH_MARKER: marker }, stdio: "ignore" });
    const dead = spawnSync("true").pid;
    writeRecord({ root, gitDir }, { ...newRecord("a"), isFilled: true, settingUp: { marker, pid: dead } });
    const worktrees = create({ setup: "echo again >> setup.log" });
    const ended = new Promise((resolve) => left.once("exit", resolve));
    await (how === "open" ? worktrees.open("a", "main") : worktrees.clearLeftovers());
    await ended;
    await worktrees.open("a", "main");
    expect(read("setup.log")).toBe("again\n");
    expect(readRecord({ root, gitDir })).toMatchObject({ isSetUp: true, settingUp: null });
  });

  test("clearing leftovers does not end one that runs", async () => {
    const worktrees = create({ setup: "touch began; until test -e go; do sleep 0.01; done" });
    const opening = worktrees.open("a", "main");
    while (!existsSync(join(root, "began"))) await new Promise((resolve) => setTimeout(resolve, 10));
    await worktrees.clearLeftovers();
    writeFileSync(join(root, "go"), "");
    expect(await opening).toMatchObject({ is: "ready" });
  });
});
