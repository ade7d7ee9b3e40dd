import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { SetBack } from "../../../core/verdict/check-files.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { layOldChecks, removeAbandonedOldChecks, type Layout, type OldTree } from "./old-checks.ts";

const ODD = "test/ö mit\nZeile 'x'.js";

let repository: TemporaryRepository;
let base: string;
let trees: OldTree[];

beforeEach(() => {
  repository = temporaryRepository();
  repository.write(".gitignore", "node_modules/\n*.log\n");
  repository.write("test/a.test.js", "old a\n");
  repository.write(ODD, "old odd\n");
  repository.write("check.sh", "#!/bin/sh\necho old\n");
  chmodSync(join(repository.root, "check.sh"), 0o755);
  symlinkSync("a.test.js", join(repository.root, "test/link.js"));
  base = repository.commit();
  repository.write("node_modules/dep/index.js", "dependency\n");
  trees = [];
});
afterEach(async () => {
  for (const tree of trees) await tree.dispose();
  repository.dispose();
});

const open = (root = repository.root): Promise<Checkout> => openCheckout(root, ".ralph");
const old = (...paths: string[]): SetBack[] => paths.map((path) => ({ path, to: "old" }));
const gone = (...paths: string[]): SetBack[] => paths.map((path) => ({ path, to: "gone" }));

async function lay(
  setBacks: readonly SetBack[],
  layout: Layout,
  checkout?: Checkout,
  from: string | null = base,
): Promise<OldTree> {
  const tree = await layOldChecks(checkout ?? (await open()), from, setBacks, [layout]);
  trees.push(tree);
  expect(tree.prefix.length === 0).toBe(layout === "copy");
  return tree;
}

function run({ root, prefix }: OldTree, command: string, cwd = ""): string {
  const [program, ...args] = [...prefix, "sh", "-c", command];
  return execFileSync(program, args, {
    cwd: join(root, cwd),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Everything in the work tree and its git directory, with dates and modes. */
function photograph(folder = repository.root): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const { mode, mtimeMs } = lstatSync(path);
    const content = entry.isFile()
      ? readFileSync(path, "latin1")
      : entry.isSymbolicLink()
        ? readlinkSync(path)
        : "";
    return [`${path} ${mode} ${mtimeMs} ${content}`, ...(entry.isDirectory() ? photograph(path) : [])];
  });
}

const LAYOUTS: readonly Layout[] = ["root", "user", "mapped-root", "copy"];
const CAN = LAYOUTS.filter((layout) => layout === "copy" || isPossible(layout));

/** Machines of others may allow less; the copy works everywhere. */
function isPossible(layout: Layout): boolean {
  if (layout === "root" && process.getuid?.() !== 0) return false;
  const options = layout === "root" ? [] : ["--user", "--map-root-user"];
  try {
    execFileSync("unshare", [...options, "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

describe.each(CAN)("laid out by %s", (layout) => {
  test("checks are as they were, all else is as it is, and the work tree is not touched", async () => {
    repository.write("test/a.test.js", "new a\n");
    repository.write(ODD, "new odd\n");
    repository.write("check.sh", "#!/bin/sh\necho new\n");
    repository.write("src/main.ts", "new program\n");
    repository.write("untracked.txt", "untracked\n");
    repository.write("conftest.py", "import cheat\n");
    repository.write("package.json", "new\n");
    const before = photograph();
    const merged: SetBack = { path: "package.json", to: "merged", text: "merged\n" };
    const tree = await lay(
      [...old("test/a.test.js", ODD, "check.sh"), ...gone("conftest.py"), merged],
      layout,
    );
    expect(run(tree, "cat test/a.test.js test/ö* src/main.ts untracked.txt package.json")).toBe(
      "old a\nold odd\nnew program\nuntracked\nmerged\n",
    );
    expect(run(tree, "./check.sh; cat node_modules/dep/index.js; cat conftest.py 2>&1 || true")).toMatch(
      /^old\ndependency\n.*No such file/,
    );
    expect(run(tree, "pwd; ls", "test")).toMatch(/\/repository\/test\na.test.js\n/);
    await tree.dispose();
    expect(photograph()).toEqual(before);
  });

  test("what a gate writes is seen by the next one and nobody else", async () => {
    repository.write("test/a.test.js", "new a\n");
    const before = photograph();
    const tree = await lay(old("test/a.test.js"), layout);
    run(tree, "echo built > out.txt; mkdir deep; echo x > deep/y; rm src/main.ts; echo z >> test/a.test.js");
    expect(run(tree, "cat out.txt deep/y test/a.test.js; ls src")).toBe("built\nx\nold a\nz\n");
    expect(photograph()).toEqual(before);
  });

  test("a gate that goes over caches, reports and logs leaves those of the work tree alone", async () => {
    repository.write(".gitignore", "node_modules/\ncoverage/\n*.log\n");
    for (const path of ["run.log", "coverage/report/lcov.info", "node_modules/.cache/tool/state"])
      repository.write(path, "of the work tree\n");
    const before = photograph();
    const tree = await lay(old("test/a.test.js"), layout);
    run(
      tree,
      "for f in run.log coverage/report/lcov.info node_modules/.cache/tool/state; do cat $f; echo old > $f; done",
    );
    run(tree, "rm -r coverage node_modules/.cache; mkdir coverage; echo again > coverage/report");
    expect(photograph()).toEqual(before);
  });

  test("a process that the agent left watching never sees an old file", async () => {
    repository.write("test/a.test.js", "new a\n");
    const watcher = spawn(
      "sh",
      ["-c", "while sleep 0.01; do cat test/a.test.js out.txt 2> /dev/null; done"],
      { cwd: repository.root, detached: true, stdio: ["ignore", "pipe", "ignore"] },
    );
    try {
      const seen: string[] = [];
      watcher.stdout.on("data", (chunk: Buffer) => seen.push(...chunk.toString().trim().split("\n")));
      await once(watcher.stdout, "data");
      const tree = await lay(old("test/a.test.js"), layout);
      const [program, ...args] = [...tree.prefix, "sh", "-c", "cat test/*.js; touch out.txt; sleep 0.3"];
      const gate = spawn(program, args, { cwd: tree.root, stdio: ["ignore", "pipe", "inherit"] });
      expect(String((await once(gate.stdout, "data"))[0])).toContain("old a");
      await once(gate, "exit");
      await tree.dispose();
      await once(watcher.stdout, "data");
      expect(new Set(seen)).toEqual(new Set(["new a"]));
    } finally {
      process.kill(-(watcher.pid ?? 0), "SIGKILL");
    }
  });

  test("submodules are there, and git works in them", async () => {
    const inside = temporaryRepository();
    inside.write("lib.sh", "echo library\n");
    inside.commit();
    repository.git(
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      inside.root,
      "deep/sub",
    );
    base = repository.commit();
    repository.write("test/a.test.js", "new a\n");
    const before = photograph();
    const tree = await lay(old("test/a.test.js"), layout);
    expect(run(tree, "sh deep/sub/lib.sh; cat test/a.test.js; git status --porcelain")).toBe(
      "library\nold a\n",
    );
    expect(run(tree, "git status --porcelain", "deep/sub")).toBe("");
    expect(photograph()).toEqual(before);
    inside.dispose();
  });

  test("a sparse checkout stays sparse", async () => {
    repository.write("left/out.txt", "left out\n");
    base = repository.commit();
    repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/left/");
    repository.write("test/a.test.js", "new a\n");
    const tree = await lay(old("test/a.test.js"), layout);
    expect(run(tree, "ls; cat test/a.test.js; git status --porcelain; git sparse-checkout list")).toBe(
      "README.md\ncheck.sh\nnode_modules\nsrc\ntest\nold a\n/*\n!/left/\n",
    );
  });

  test("deleted folders come back, and a folder in the place of a file goes", async () => {
    repository.remove("test");
    repository.write("test", "a file now\n");
    repository.remove("check.sh");
    repository.write("check.sh/inside", "a folder now\n");
    const tree = await lay([...gone("test"), ...old("test/a.test.js", "test/link.js", "check.sh")], layout);
    expect(run(tree, "cat test/link.js; readlink test/link.js; ./check.sh")).toBe("old a\na.test.js\nold\n");
  });

  test("a link in the place of a check file is not followed", async () => {
    const outside = mkdtempSync(join(tmpdir(), "ralph-test-outside-"));
    writeFileSync(join(outside, "a.test.js"), "outside\n");
    repository.remove("test");
    symlinkSync(outside, join(repository.root, "test"));
    repository.remove("check.sh");
    symlinkSync(join(outside, "a.test.js"), join(repository.root, "check.sh"));
    const tree = await lay([...old("test/a.test.js", "check.sh"), ...gone("test/b.test.js")], layout);
    expect(run(tree, "cat test/a.test.js; ./check.sh; rm -f test/* check.sh")).toBe("old a\nold\n");
    expect(readdirSync(outside)).toEqual(["a.test.js"]);
    expect(readFileSync(join(outside, "a.test.js"), "utf8")).toBe("outside\n");
    rmSync(outside, { recursive: true });
  });

  test("an ignored file goes, and its folder stays", async () => {
    repository.write(".git/info/exclude", "tests/\n");
    repository.write("tests/conftest.py", "import cheat\n");
    repository.write("tests/data.txt", "data\n");
    const tree = await lay(gone("tests/conftest.py"), layout);
    expect(run(tree, "ls tests; cat tests/data.txt")).toBe("data.txt\ndata\n");
    expect(readdirSync(join(repository.root, "tests"))).toEqual(["conftest.py", "data.txt"]);
  });

  test("without a first commit all old files are gone", async () => {
    const tree = await lay(old("test/a.test.js"), layout, undefined, null);
    expect(run(tree, "ls test")).not.toContain("a.test.js");
  });

  test("a path that leads out of the tree is left alone", async () => {
    writeFileSync(join(repository.root, "../outside"), "outside\n");
    await lay([...gone("../outside", ".git/config"), ...old("../outside")], layout);
    expect(readFileSync(join(repository.root, "../outside"), "utf8")).toBe("outside\n");
    expect(existsSync(join(repository.root, ".git/config"))).toBe(true);
  });

  test.each(["the checkout", "a linked worktree"])(
    "git works in %s and leaves its index alone",
    async (place) => {
      let root = repository.root;
      if (place === "a linked worktree") {
        root = join(repository.root, "../beside it");
        repository.git("worktree", "add", "--quiet", "-b", "beside", root);
      }
      writeFileSync(join(root, "test/a.test.js"), "new a\n");
      const checkout = await open(root);
      const index = readFileSync(join(checkout.gitDir, "index"));
      const tree = await lay(old("test/a.test.js"), layout, checkout);
      expect(
        run(
          tree,
          "git rev-parse HEAD; git status --porcelain; touch x; git add --all; git status --porcelain",
        ),
      ).toBe(`${base}\nA  x\n`);
      expect(readFileSync(join(checkout.gitDir, "index")).equals(index)).toBe(true);
      expect(readFileSync(join(root, "test/a.test.js"), "utf8")).toBe("new a\n");
    },
  );

  test("the work tree is as it was after everybody is killed in the middle", async () => {
    repository.write("test/a.test.js", "new a\n");
    const before = photograph();
    const tree = await lay([...old("test/a.test.js"), ...gone("src/main.ts")], layout);
    const [program, ...args] = [...tree.prefix, "sh", "-c", "rm -rf test src; echo ready; sleep 60"];
    const child = spawn(program, args, {
      cwd: tree.root,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await once(child, "exit");
    expect(photograph()).toEqual(before);
  });

  test("nothing of it is left, whatever gates did to its folders", async () => {
    const tree = await lay(old("test/a.test.js"), layout);
    run(tree, "mkdir -p closed/inside; touch closed/inside/x; chmod 0 closed/inside; chmod 500 closed");
    await tree.dispose();
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`ralph-old-checks-${process.pid}-`)),
    ).toEqual([]);
  });
});

test("gates have no rights that their user has not", async () => {
  if (!CAN.includes("user")) return;
  const tree = await lay(old("test/a.test.js"), "user");
  expect(run(tree, "grep -E 'CapInh|CapAmb' /proc/self/status")).toMatch(/^CapInh:\t0+\nCapAmb:\t0+\n$/);
  expect(run(tree, "id -u").trim()).toBe(String(process.getuid?.()));
});

test("a mount below the work tree leads to a copy", async () => {
  if (!CAN.includes("root")) return;
  const folder = join(repository.root, "mounted");
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "none", folder]);
  try {
    const tree = await layOldChecks(await open(), base, old("test/a.test.js"));
    trees.push(tree);
    expect(tree.prefix).toEqual([]);
  } finally {
    execFileSync("umount", [folder]);
  }
});

test("folders of dead processes are removed, those of living ones are not", async () => {
  const parent = join(repository.root, ".git/ralph");
  // One of our number that we do not know was a dead process's: numbers are given out again.
  const gone = ["ralph-old-checks-999999999-b", `ralph-old-checks-${process.pid}-c`];
  const kept = [`ralph-old-checks-${process.ppid}-a`, "ralph-other-999999999-d"];
  for (const name of [...gone, ...kept]) mkdirSync(join(parent, name, "inside"), { recursive: true });
  await removeAbandonedOldChecks(join(repository.root, ".git"));
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted());
});

test("without a temporary folder of the machine it finds another one", async () => {
  vi.stubEnv("TMPDIR", join(repository.root, "../nowhere"));
  repository.write("test/a.test.js", "new a\n");
  expect(run(await lay(old("test/a.test.js"), "copy"), "cat test/a.test.js")).toBe("old a\n");
  vi.unstubAllEnvs();
});
