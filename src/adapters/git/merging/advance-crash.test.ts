import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Advanced } from "../../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

const { PATH = "" } = process.env;
const REAL_GIT = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();

let repository: TemporaryRepository;
let from: string;
let to: string;

beforeEach(begin);
afterEach(() => {
  process.env["PATH"] = PATH;
  repository.dispose();
});

function begin(): void {
  repository = temporaryRepository();
  for (const name of ["changed", "removed", "other", "folder/inside", "mode.sh"]) write(name, `${name}\n`);
  write("crlf.bat", "one\r\ntwo\r\n");
  write(".gitattributes", "*.bat eol=crlf\n");
  from = repository.commit("before");
  repository.git("checkout", "--quiet", "--detach");
  for (const step of STEPS) step();
  to = repository.commit("after");
  repository.git("checkout", "--quiet", "main");
  repository.remove("crlf.bat");
  repository.git("checkout", "--", "crlf.bat");
}

const write = (path: string, content: string): void => repository.write(path, content);

/** What git does to the files when it moves from one commit to the other: first what goes, then what comes. */
const STEPS: (() => void)[] = [
  () => repository.remove("removed"),
  () => repository.remove("folder"),
  () => write("added ä", "added\n"),
  () => write("changed", "changed now\n"),
  () => write("crlf.bat", "one\r\ntwo\r\nthree\r\n"),
  () => write("folder", "a file now\n"),
  () => symlinkSync("changed", join(repository.root, "link")),
  () => chmodSync(join(repository.root, "mode.sh"), 0o755),
  () => write("new/one", "new\n"),
];

function advance(): Promise<Advanced> {
  const scratch = join(repository.root, "../scratch");
  const merging = createMerging({ root: repository.root, scratch });
  return merging.advance({ base: "main", from, to, run: "r1", iteration: 1 });
}

const gitPath = (path: string): string => join(repository.root, ".git", path);

function leaveLock(path: string): void {
  mkdirSync(dirname(gitPath(path)), { recursive: true });
  writeFileSync(gitPath(path), "");
}

function expectMoved(answer: Advanced): void {
  expect(answer).toEqual({ is: "moved" });
  expect(repository.git("rev-parse", "main")).toBe(to);
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(repository.git("for-each-ref", "--format=%(objectname)", "refs/ralph")).toContain(from);
}

/** The index of the next commit, as git would have written it. */
function writeIndex(): void {
  const index = join(repository.root, "../index");
  execFileSync("git", ["read-tree", to], {
    cwd: repository.root,
    env: { ...process.env, GIT_INDEX_FILE: index },
  });
  copyFileSync(index, gitPath("index"));
}

describe.each(["at its place", "left behind"])("git was killed in the middle, its lock %s", (lock) => {
  const kill = (steps: number): void => {
    for (const step of STEPS.slice(0, steps)) step();
    if (lock === "left behind") leaveLock("index.lock");
  };

  test.each([...STEPS.keys(), STEPS.length])("after %i files", async (steps) => {
    kill(steps);
    expectMoved(await advance());
  });

  test("after the index", async () => {
    kill(STEPS.length);
    writeIndex();
    expectMoved(await advance());
  });

  test("after the index, and not all files have reached the disk", async () => {
    kill(4);
    writeIndex();
    expectMoved(await advance());
  });

  test("and a file is half written", async () => {
    kill(6);
    write("new/one", "ne");
    expect(await advance()).toMatchObject({ is: "waits", paths: ["new/one"] });
    repository.remove("new/one");
    expectMoved(await advance());
  });

  test.each(["changed", "crlf.bat", "other", "added ä", "folder", "removed"])(
    "and a person has edited %s since",
    async (path) => {
      kill(6);
      const theirs = "a person's\n";
      write(path, theirs);
      for (const _ of [1, 2]) {
        expect(await advance()).toMatchObject({ is: "waits", paths: [path] });
        expect(repository.read(path)).toBe(theirs);
        expect(repository.git("rev-parse", "main")).toBe(from);
      }
    },
  );

  test("and a person has staged something else since", async () => {
    kill(6);
    if (lock === "left behind") rmSync(gitPath("index.lock"));
    write("changed", "a person's\n");
    repository.git("add", "changed");
    write("changed", "changed now\n");
    expect(await advance()).toMatchObject({ is: "waits", paths: ["changed"] });
    expect(repository.git("show", ":changed")).toBe("a person's");
  });
});

test.each([1, 2, 3, 4, 5, 6, 7])("git is killed at file %i that it writes", async (at) => {
  const [calls, script] = ["calls", "smudge.sh"].map((name) => join(repository.root, "..", name));
  writeFileSync(calls!, "");
  const lines = [
    `printf . >> ${calls}`,
    `if [ $(wc -c < ${calls}) -ge ${at} ]; then`,
    "  pid=$PPID",
    '  until [ "$(cat /proc/$pid/comm)" = git ]; do pid=$(cut -d" " -f4 /proc/$pid/stat); done',
    "  kill -9 $pid",
    "fi",
    "cat",
  ];
  writeFileSync(script!, lines.join("\n"));
  repository.git("config", "filter.deadly.smudge", `sh ${script}`);
  writeFileSync(gitPath("info/attributes"), "* filter=deadly\n");
  const first = await advance();
  const total = readFileSync(calls!, "utf8").length;
  if (total < at) return expectMoved(first);
  expect(first.is).toBe("waits");
  expect(repository.git("rev-parse", "main")).toBe(from);
  repository.git("config", "filter.deadly.smudge", "cat");
  const second = await advance();
  if (second.is === "moved") return expectMoved(second);
  // Git had removed the old file and not yet written the new one: that could be a person's deletion.
  expect(second.is === "waits" && second.paths).toHaveLength(1);
  for (const path of second.is === "waits" ? second.paths : []) repository.git("checkout", "--", path);
  expectMoved(await advance());
});

describe("locks of dead processes", () => {
  test.each(["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"])(
    "%s does not hold up a checkout",
    async (lock) => {
      leaveLock(lock);
      expectMoved(await advance());
    },
  );

  test.each(["refs/heads/main.lock", "refs/ralph/backup/r1/1.lock"])(
    "%s does not hold up a base that is not checked out",
    async (lock) => {
      repository.git("checkout", "--quiet", "--detach");
      leaveLock(lock);
      expectMoved(await advance());
    },
  );
});

/** A git that is no more from some call on, then the real one again. */
async function dieAt(call: number): Promise<{ calls: number; first: Advanced | null }> {
  const bin = join(repository.root, "../bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "calls"), "");
  const script = [
    "#!/bin/sh",
    `printf . >> ${bin}/calls`,
    `[ $(wc -c < ${bin}/calls) -ge ${call} ] && exit 137`,
    `exec ${REAL_GIT} "$@"`,
  ];
  writeFileSync(join(bin, "git"), script.join("\n"), { mode: 0o755 });
  process.env["PATH"] = `${bin}:${PATH}`;
  const first = await advance().catch(() => null);
  process.env["PATH"] = PATH;
  return { calls: readFileSync(join(bin, "calls"), "utf8").length, first };
}

const SCENES: Record<string, () => void> = {
  "checked out": () => undefined,
  "checked out and half-way": () => {
    for (const step of STEPS.slice(0, 5)) step();
  },
  "not checked out": () => void repository.git("checkout", "--quiet", "-b", "mine"),
};

describe.each(Object.keys(SCENES))("a base that is %s", (scene) => {
  test("is before or after when we die before any call of git, and moved when we come again", async () => {
    SCENES[scene]!();
    const { calls, first } = await dieAt(Number.MAX_SAFE_INTEGER);
    expectMoved(first!);
    expect(calls).toBeGreaterThan(4);
    for (let call = 1; call <= calls; call += 1) {
      repository.dispose();
      begin();
      SCENES[scene]!();
      await dieAt(call);
      expect([from, to]).toContain(repository.git("rev-parse", "main"));
      expectMoved(await advance());
    }
  });
});
