import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Evidence } from "../../../core/verdict/evidence.ts";
import type { Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace } from "./git-workspace.ts";

const { PATH = "" } = process.env;
const REAL_GIT = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();

afterEach(() => {
  process.env["PATH"] = PATH;
});

/** What an agent did in an iteration; answers where the iteration began. */
const SCENES: Record<string, (repository: TemporaryRepository) => Snapshot> = {
  "work of every kind, a secret staged among it": (repository) => {
    const from = snapshot(repository);
    repository.write("new.txt", "one\n");
    repository.write("src/main.ts", "changed\n");
    repository.remove("README.md");
    repository.write(".env", "TOKEN=1\n");
    repository.git("add", ".env");
    return from;
  },
  "a branch that continues ours": (repository) => {
    const from = snapshot(repository);
    repository.git("checkout", "--quiet", "-b", "feature");
    repository.write("a.txt", "one\n");
    repository.commit();
    repository.write("b.txt", "one\n");
    return from;
  },
  "a branch that does not": (repository) => {
    repository.write("later.txt", "one\n");
    repository.commit();
    const from = snapshot(repository);
    repository.git("checkout", "--quiet", "-b", "elsewhere", "HEAD~1");
    repository.write("a.txt", "one\n");
    return from;
  },
  "protected files that were changed, made and deleted, some of it committed": (repository) => {
    repository.write("guarded/changed.sh", "exit 1\n");
    repository.write("guarded/deleted.sh", "exit 1\n");
    repository.commit();
    const from = snapshot(repository);
    repository.write("guarded/changed.sh", "exit 0\n");
    repository.write("guarded/made.sh", "exit 0\n");
    repository.write("a.txt", "one\n");
    repository.commit();
    repository.remove("guarded/deleted.sh");
    repository.write("guarded/changed.sh", "exit 2\n");
    repository.write("b.txt", "one\n");
    return from;
  },
  "a rebase in conflict": (repository) => {
    repository.git("checkout", "--quiet", "-b", "other");
    repository.write("README.md", "# Theirs\n");
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    repository.write("README.md", "# Ours\n");
    repository.commit();
    const from = snapshot(repository);
    expect(() => repository.git("rebase", "other")).toThrow("conflict");
    return from;
  },
};

const NAMES = Object.keys(SCENES);

test.each([...NAMES.map((name) => [name, undefined] as const), [`${NAMES[0]}`, 0] as const])(
  "%s: dying before every second call of git changes nothing in the end",
  async (name, bigIndexBytes) => {
    const whole = await outcome(name, null, bigIndexBytes);
    expect(whole.calls).toBeGreaterThan(3);
    for (let call = 1; call <= whole.calls; call += 2) {
      const { result } = await outcome(name, call, bigIndexBytes);
      expect(result, `died before call ${call}`).toEqual(whole.result);
    }
    const again = await outcome(name, whole.calls + 1, bigIndexBytes);
    expect(again.result, "died before it was recorded").toEqual(whole.result);
  },
);

test.each(NAMES)("%s: a repository of very many files comes to the same", async (name) => {
  const [small, big] = [await outcome(name, null), await outcome(name, null, 0)];
  expect(big.result).toEqual(small.result);
});

/** Collects with a git that is no more from some call on, then once more as the next process would. */
async function outcome(
  name: string,
  diesAt: number | null,
  bigIndexBytes = 1_000_000,
): Promise<{ result: unknown; calls: number }> {
  const repository = temporaryRepository();
  const scene = SCENES[name]!;
  const from = scene(repository);
  const bin = join(repository.root, "..", "bin");
  installMortalGit(bin, diesAt ?? Number.MAX_SAFE_INTEGER);
  const collect = (): Promise<Evidence> =>
    createGitWorkspace({ root: repository.root, ralphDir: ".ralph", bigIndexBytes }).collect({
      ...requestFrom(from, "TODO.md"),
      isProtected: (path) => path.startsWith("guarded/"),
      cited: ["none.ts", "README.md"],
    });
  process.env["PATH"] = `${bin}:${PATH}`;
  const first = await collect().catch(() => null);
  process.env["PATH"] = PATH;
  const calls = readFileSync(join(bin, "calls"), "utf8").length;
  await createGitWorkspace({ root: repository.root, ralphDir: ".ralph" }).clearLeftovers();
  const evidence = diesAt === null ? first! : await collect();
  const uncommitted = evidence.uncommitted.map(({ path }) => path);
  const result = {
    evidence: { ...evidence, uncommitted, headBefore: null, headAfter: null },
    tree: repository.git("rev-parse", "HEAD^{tree}"),
    status: repository.git("status", "--porcelain", "--branch"),
    commits: repository.git("log", "--all", "--format=%s").split("\n").toSorted(),
  };
  repository.dispose();
  return { result, calls };
}

function installMortalGit(bin: string, diesAt: number): void {
  mkdirSync(bin);
  writeFileSync(join(bin, "calls"), "");
  const script = [
    "#!/bin/sh",
    `printf . >> ${bin}/calls`,
    `[ $(wc -c < ${bin}/calls) -ge ${diesAt} ] && exit 137`,
    `exec ${REAL_GIT} "$@"`,
  ];
  writeFileSync(join(bin, "git"), script.join("\n"));
  chmodSync(join(bin, "git"), 0o755);
}

function snapshot(repository: TemporaryRepository): Snapshot {
  return { head: repository.git("rev-parse", "HEAD"), branch: "main" };
}
