import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { NO_LEFTOVERS, type Evidence } from "../../../core/verdict/evidence.ts";
import type { CollectRequest, Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

const ASIDE = ".ralph/logs/put-back/iteration-001";
const CONFIG = ".ralph/ralph.toml";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(() =>
  begin(temporaryRepository(), {
    "guard/check it.sh": "exit 1\n",
    "guard/prüfen.sh": "exit 1\n",
    "a.txt": "one\n",
  }),
);
afterEach(() => repository.dispose());

async function begin(made: TemporaryRepository, files: Record<string, string>): Promise<void> {
  repository = made;
  repository.write(".git/info/exclude", ".ralph/logs/\n");
  for (const [path, content] of Object.entries(files)) repository.write(path, content);
  if (Object.keys(files).length > 0) repository.commit("given");
  await start();
}

/** A process that sees the iteration begin. */
async function start(): Promise<void> {
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
}

/** As after a crash. */
function forget(): void {
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
}

const isProtected = (path: string): boolean =>
  path.startsWith("guard/") ||
  path.startsWith(".ralph/") ||
  path === ".specflow/config.yaml" ||
  path.endsWith(".guarded");

function collect(over: Partial<CollectRequest> = {}): Promise<Evidence> {
  return workspace.collect({ ...requestFrom(from, "TODO.md"), isProtected, ...over });
}

function aside(path: string): string {
  return readFileSync(join(repository.root, ASIDE, path), "utf8");
}

function status(): string {
  return repository.git("status", "--porcelain");
}

function relink(path: string, target: string): void {
  repository.remove(path);
  symlinkSync(target, join(repository.root, path));
}

const HOW: [string, Partial<CollectRequest>, () => void][] = [
  ["left in the work tree", {}, () => undefined],
  ["left in the work tree of an agent that commits", { commit: "agent" }, () => undefined],
  ["staged", {}, () => repository.git("add", "--all")],
  ["staged by an agent that commits", { commit: "agent" }, () => repository.git("add", "--all")],
  ["committed", {}, () => repository.commit()],
  ["committed by an agent that commits", { commit: "agent" }, () => repository.commit()],
];

describe.each(HOW)("a protected file, %s", (_how, over, leave) => {
  const path = "guard/check it.sh";
  const deeds: Record<string, () => void> = {
    changed: () => repository.write(path, "exit 0\n"),
    "changed in its white space": () => repository.write(path, "exit  1\n\n"),
    "made executable": () => chmodSync(join(repository.root, path), 0o755),
    deleted: () => repository.remove(path),
    "replaced by a link to /etc/passwd": () => relink(path, "/etc/passwd"),
    "replaced by a folder": () => (repository.remove(path), repository.write(`${path}/inside`, "x\n")),
    "deleted with its folder": () => repository.remove("guard"),
    "put out of reach by a file in its folder's place": () => (
      repository.remove("guard"),
      repository.write("guard", "x\n")
    ),
    "put out of reach by a link in its folder's place": () => relink("guard", "/etc"),
  };

  test.each(Object.keys(deeds))("%s, is put back", async (deed) => {
    deeds[deed]!();
    leave();
    repository.write("b.txt", "work\n");
    const evidence = await collect(over);
    expect(evidence.putBack).toContain(path);
    expect(repository.read(path)).toBe("exit 1\n");
    expect(lstatSync(join(repository.root, path)).mode & 0o111).toBe(0);
    expect(repository.git("diff", "--name-only", from.head!, "--", "guard")).toBe("");
    expect(repository.git("diff", "--name-only", from.head!, "HEAD", "--", "guard")).toBe("");
    expect(status()).toBe(over.commit === "agent" ? "?? b.txt" : "");
    expect(evidence.changed.paths).toEqual(["b.txt"]);
    expect(await collect(over)).toEqual(evidence);
    forget();
    expect(await collect(over)).toEqual(evidence);
  });
});

describe("what the agent wrote into a protected file", () => {
  test("is kept aside", async () => {
    repository.write("guard/check it.sh", "exit 0\n");
    repository.write("guard/new/deep.sh", "mine\n");
    repository.write("guard/prüfen.sh", "exit 0 # ü\n");
    const { putBack } = await collect();
    expect(putBack).toEqual(["guard/check it.sh", "guard/new/deep.sh", "guard/prüfen.sh"]);
    expect(aside("guard/check it.sh")).toBe("exit 0\n");
    expect(aside("guard/new/deep.sh")).toBe("mine\n");
    expect(aside("guard/prüfen.sh")).toBe("exit 0 # ü\n");
    expect(existsSync(join(repository.root, "guard/new"))).toBe(false);
  });

  test("is kept as the link or folder that it was, and what stood in the way too", async () => {
    relink("guard/check it.sh", "/etc/passwd");
    repository.remove("guard/prüfen.sh");
    repository.write("guard/prüfen.sh/inside", "x\n");
    await collect();
    expect(readlinkSync(join(repository.root, ASIDE, "guard/check it.sh"))).toBe("/etc/passwd");
    expect(aside("guard/prüfen.sh/inside")).toBe("x\n");
    relink("guard", "/etc");
    await collect({ iteration: 2 });
    expect(readlinkSync(join(repository.root, ".ralph/logs/put-back/iteration-002/guard.in-the-way"))).toBe(
      "/etc",
    );
  });

  test("is kept once more when it comes again in the same iteration", async () => {
    repository.write("guard/check it.sh", "first\n");
    await collect();
    repository.write("guard/check it.sh", "second\n");
    expect((await collect()).putBack).toEqual(["guard/check it.sh"]);
    expect(aside("guard/check it.sh")).toBe("first\n");
    expect(aside("guard/check it.sh~2")).toBe("second\n");
  });

  test("is never written through a link that the agent laid", async () => {
    const trap = join(repository.root, "..", "trap");
    mkdirSync(trap);
    for (const link of [
      ".ralph/logs/put-back/iteration-001",
      ".ralph/logs/put-back",
      ".ralph/logs",
      ".ralph",
    ]) {
      repository.remove(".ralph");
      mkdirSync(join(repository.root, link, ".."), { recursive: true });
      relink(link, trap);
      repository.write("guard/check it.sh", "exit 0\n");
      expect((await collect()).putBack).toEqual(["guard/check it.sh"]);
      expect(aside("guard/check it.sh")).toBe("exit 0\n");
    }
    expect(() => statSync(join(trap, "guard"))).toThrow("ENOENT");
    expect(() => statSync(join(trap, "iteration-001.json"))).toThrow("ENOENT");
    expect(() => statSync(join(trap, "logs"))).toThrow("ENOENT");
  });

  test("is kept by any name", async () => {
    const name = Buffer.concat([Buffer.from(`${repository.root}/guard/`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(name, "before\n");
    repository.commit();
    await start();
    writeFileSync(name, "after\n");
    repository.write("guard/new\nline", "x\n");
    expect((await collect()).putBack).toHaveLength(2);
    expect(readFileSync(name, "utf8")).toBe("before\n");
    expect(status()).toBe("");
  });
});

describe("a commit of what was put back", () => {
  test("holds just that, with the iteration's trailers", async () => {
    repository.write("guard/check it.sh", "exit 0\n");
    repository.write("guard/new.sh", "x\n");
    repository.write("b.txt", "work\n");
    repository.commit();
    repository.write("staged.txt", "work\n");
    repository.git("add", "staged.txt");
    await collect({ commit: "agent" });
    expect(repository.git("log", "-1", "--format=%s")).toBe("ralph(task-001): put back protected files");
    expect(repository.git("log", "-1", "--format=%(trailers:key=Ralph-Iteration,valueonly)").trim()).toBe(
      "1",
    );
    expect(repository.git("show", "--format=", "--name-only", "HEAD").split("\n")).toEqual([
      "guard/check it.sh",
      "guard/new.sh",
    ]);
    expect(status()).toBe("A  staged.txt");
  });

  test("is not made when the agent has committed none of it", async () => {
    repository.write("guard/check it.sh", "exit 0\n");
    const evidence = await collect();
    expect(evidence.headAfter).toBe(from.head);
  });

  test("that a hook refuses is told, and the file is put back all the same", async () => {
    repository.write("guard/check it.sh", "exit 0\n");
    repository.commit();
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\necho not today\nexit 1\n");
    chmodSync(join(repository.root, ".git/hooks/pre-commit"), 0o755);
    const evidence = await collect({ hooks: true });
    expect(evidence.refusal).toBe("not today");
    expect(repository.read("guard/check it.sh")).toBe("exit 1\n");
    expect(evidence.changed.files).toBe(0);
    const second = { iteration: 2, from: await workspace.snapshot(), leftBefore: evidence.uncommitted };
    expect((await collect({ ...second, hooks: true })).putBack).toEqual([]);
    expect(repository.read("guard/check it.sh")).toBe("exit 1\n");
  });

  test("goes with the merge that the agent has begun", async () => {
    repository.git("checkout", "--quiet", "-b", "other");
    repository.write("guard/check it.sh", "exit 0\n");
    repository.write("other.txt", "work\n");
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    repository.git("merge", "--quiet", "--no-commit", "--no-ff", "other");
    const evidence = await collect();
    expect(evidence.putBack).toEqual(["guard/check it.sh"]);
    expect(evidence.changed.paths).toEqual(["other.txt"]);
    expect(repository.git("rev-list", "--parents", "-1", "HEAD").split(" ")).toHaveLength(3);
    expect(status()).toBe("");
  });

  test("leaves a secret that the operator keeps in the repository as it was", async () => {
    repository.write("guard/.env", "TOKEN=1\n");
    repository.commit();
    await start();
    repository.write("guard/.env", "TOKEN=2\n");
    repository.commit();
    const evidence = await collect();
    expect(evidence.putBack).toEqual(["guard/.env"]);
    expect(repository.git("show", "HEAD:guard/.env")).toBe("TOKEN=1");
    expect(status()).toBe("");
  });
});

describe("what is not touched", () => {
  test("paths that were dirty before the run, and the task source", async () => {
    repository.write("guard/check it.sh", "operator\n");
    repository.write("guard/mine/a", "operator\n");
    repository.write("guard/TODO.md", "- [x] one\n");
    const over = { leaveAlone: ["guard/check it.sh", "guard/mine/"], ignore: ["guard/TODO.md"] };
    expect((await collect(over)).putBack).toEqual([]);
    expect(repository.read("guard/check it.sh")).toBe("operator\n");
    repository.commit();
    expect((await collect(over)).putBack).toEqual([]);
    expect(repository.read("guard/mine/a")).toBe("operator\n");
  });

  test("what gates or earlier iterations left there, as long as nobody touches it", async () => {
    const began = await workspace.beforeGates();
    repository.write("guard/coverage", "90%\n");
    repository.write("guard/left", "by an agent of another task\n");
    const left = { ...NO_LEFTOVERS, byAgents: [{ path: "guard/left", look: "" }] };
    const { byAgents, gatesRan } = await workspace.leftoversAfterGates(left, began);
    const over = { gatesRan, leftBefore: byAgents, commit: "agent" } as const;
    expect((await collect(over)).putBack).toEqual([]);
    repository.write("guard/coverage", "100 %\n");
    expect((await collect(over)).putBack).toEqual(["guard/coverage"]);
  });

  test("our own folder, apart from the configuration", async () => {
    repository.write(".ralph/status.json", "{}\n");
    repository.write(".ralph/progress.txt", "learned\n");
    expect((await collect()).putBack).toEqual([]);
    expect(repository.read(".ralph/status.json")).toBe("{}\n");
  });

  test("a submodule: its files are another repository's", async () => {
    const other = temporaryRepository();
    repository.git(
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      other.root,
      "guard/sub",
    );
    repository.commit();
    await start();
    repository.write("guard/sub/README.md", "changed\n");
    const evidence = await collect();
    expect(evidence.putBack).toEqual([]);
    expect(evidence.changed.paths).toEqual(["guard/sub"]);
    other.dispose();
  });

  test("anything in a repository that was made anew, since nobody knows what was there", async () => {
    repository.remove(".git");
    repository.git("init", "--quiet", "--initial-branch=main");
    expect((await collect()).putBack).toEqual([]);
    expect(repository.read("guard/check it.sh")).toBe("exit 1\n");
  });
});

describe("another repository inside a protected folder", () => {
  test("is taken out as a whole", async () => {
    mkdirSync(join(repository.root, "guard"), { recursive: true });
    repository.git("clone", "--quiet", repository.root, "guard/copy");
    expect((await collect()).putBack).toEqual(["guard/copy"]);
    expect(existsSync(join(repository.root, ASIDE, "guard/copy/.git"))).toBe(true);
    expect(status()).toBe("");
  });
});

describe("in a repository without a first commit", () => {
  beforeEach(async () => {
    repository.dispose();
    await begin(temporaryRepository({ unborn: true }), {});
  });

  test.each([false, true])(
    "a protected file that the agent made is removed (committed: %s)",
    async (commits) => {
      repository.write("guard/a.sh", "x\n");
      repository.write("b.txt", "x\n");
      if (commits) repository.commit();
      const evidence = await collect();
      expect(evidence.putBack).toEqual(["guard/a.sh"]);
      expect(evidence.changed.paths).toEqual(["b.txt"]);
      expect(repository.git("ls-files")).toBe("b.txt");
      expect(await collect()).toEqual(evidence);
    },
  );
});

describe("the configuration, uncommitted or ignored", () => {
  const files = {
    [CONFIG]: "agent = 'claude'\n",
    ".ralph/prompts/build.md": "mine\n",
    ".specflow/config.yaml": "ralph:\n",
  };

  beforeEach(async () => {
    for (const [path, content] of Object.entries(files)) repository.write(path, content);
    repository.write(".git/info/exclude", ".ralph/logs/\n.specflow/\n");
    chmodSync(join(repository.root, CONFIG), 0o600);
    await start();
  });

  function expectAsBefore(): void {
    for (const [path, content] of Object.entries(files))
      expect([path, repository.read(path)]).toEqual([path, content]);
    expect(statSync(join(repository.root, CONFIG)).mode & 0o777).toBe(0o600);
    expect(repository.git("ls-files", CONFIG, ".specflow")).toBe("");
  }

  const deeds: Record<string, [() => void, string[]]> = {
    changed: [() => repository.write(CONFIG, "agent = 'true'\n"), [CONFIG]],
    "changed and committed": [
      () => (repository.write(CONFIG, "agent = 'true'\n"), repository.commit()),
      [CONFIG],
    ],
    "changed in its mode": [() => chmodSync(join(repository.root, CONFIG), 0o755), [CONFIG]],
    "deleted with our whole folder": [() => repository.remove(".ralph"), [".ralph/prompts/build.md", CONFIG]],
    "ignored by git, and changed": [
      () => repository.write(".specflow/config.yaml", "x\n"),
      [".specflow/config.yaml"],
    ],
    "replaced by a link": [() => relink(CONFIG, "/etc/passwd"), [CONFIG]],
    "replaced by a folder": [
      () => (repository.remove(CONFIG), repository.write(`${CONFIG}/x`, "x\n")),
      [CONFIG],
    ],
    "behind a link in its folder's place": [
      () => relink(".ralph", "/etc"),
      [".ralph/prompts/build.md", CONFIG],
    ],
    "behind a link in the place of the prompts": [
      () => relink(".ralph/prompts", "/etc"),
      [".ralph/prompts/build.md"],
    ],
    "joined by another": [() => repository.write(".ralph/ralph.json", "{}\n"), [".ralph/ralph.json"]],
    "joined by a prompt": [() => repository.write(".ralph/prompts/new.md", "x\n"), [".ralph/prompts/new.md"]],
  };

  test.each(Object.keys(deeds))("%s, is put back as it was", async (deed) => {
    const [act, paths] = deeds[deed]!;
    act();
    const evidence = await collect();
    expect(evidence.putBack).toEqual(paths);
    expectAsBefore();
    for (const name of ["ralph.json", "prompts/new.md"])
      expect(existsSync(join(repository.root, ".ralph", name))).toBe(false);
    expect(evidence.changed.files).toBe(0);
    expect(await collect()).toEqual(evidence);
    forget();
    expect(await collect()).toEqual(evidence);
    expectAsBefore();
  });

  test("that the agent only committed is as it was", async () => {
    repository.commit();
    expect((await collect()).putBack).toEqual([]);
    expect(repository.read(CONFIG)).toBe(files[CONFIG]);
  });

  test("of a process that did not see it begin is left alone, unless it is gone", async () => {
    forget();
    repository.write(CONFIG, "agent = 'true'\n");
    expect((await collect()).putBack).toEqual([]);
    expect(repository.read(CONFIG)).toBe("agent = 'true'\n");
    repository.commit();
    from = { head: repository.git("rev-parse", "HEAD"), branch: "main" };
    repository.remove(CONFIG);
    expect((await collect({ iteration: 2 })).putBack).toEqual([CONFIG]);
    expect(repository.read(CONFIG)).toBe("agent = 'true'\n");
  });

  test("with changes of the operator's over what git has, gets both back", async () => {
    repository.commit();
    repository.write(CONFIG, "agent = 'operator'\n");
    await start();
    repository.write(CONFIG, "agent = 'true'\n");
    repository.commit();
    expect((await collect()).putBack).toEqual([CONFIG]);
    expect(repository.read(CONFIG)).toBe("agent = 'operator'\n");
    expect(repository.git("show", `HEAD:${CONFIG}`)).toBe("agent = 'claude'");
    expect(status()).toBe(` M ${CONFIG}`);
  });

  test("is put back by the next process when the one that began to do so died", async () => {
    repository.write(CONFIG, "agent = 'true'\n");
    await collect();
    // As if the record had been the last thing that was written.
    repository.write(CONFIG, "agent = 'true'\n");
    repository.remove(".ralph/prompts");
    forget();
    expect((await collect()).putBack).toEqual([".ralph/prompts/build.md", CONFIG]);
    expectAsBefore();
  });

  test("is not put back from a record that the agent forged", async () => {
    const evil = { is: "file", bytes: Buffer.from("evil\n").toString("base64"), mode: 420 };
    const record = {
      run: requestFrom(from, "").run,
      iteration: 1,
      paths: ["guard/x", "README.md"],
      kept: [
        [CONFIG, evil],
        ["../evil", evil],
      ],
    };
    repository.write(`${ASIDE}.json`, JSON.stringify(record));
    expect((await collect()).putBack).toEqual([]);
    expectAsBefore();
    forget();
    await collect();
    expect(existsSync(join(repository.root, "../evil"))).toBe(false);
  });
});
