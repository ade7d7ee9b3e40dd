import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { NO_LEFTOVERS } from "../../../core/verdict/evidence.ts";
import type { CollectRequest } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

const { PATH = "" } = process.env;
const REAL_GIT = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let calls: string;

beforeEach(() => {
  repository = temporaryRepository();
  repository.write("TODO.md", "- [ ] one\n");
  repository.commit();
  const bin = join(repository.root, "..", "bin");
  calls = join(bin, "calls");
  mkdirSync(bin);
  const script = ["#!/bin/sh", `printf '%s\\n' "$*" | head -c 900 >> ${calls}`, `exec ${REAL_GIT} "$@"`];
  writeFileSync(join(bin, "git"), script.join("\n"));
  chmodSync(join(bin, "git"), 0o755);
  process.env["PATH"] = `${bin}:${PATH}`;
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph", bigIndexBytes: 0 });
});
afterEach(() => {
  process.env["PATH"] = PATH;
  repository.dispose();
});

/** What an agent did, and whether it alone commits. */
const SCENES: Record<string, { act: () => void; commit?: CollectRequest["commit"] }> = {
  "nothing at all": { act: () => {} },
  "a commit of its own": {
    act: () => {
      repository.write("a.txt", "one\n");
      repository.commit();
    },
  },
  "leftovers of every kind": {
    act: () => {
      repository.write("new.txt", "one\n");
      repository.write("src/main.ts", "changed\n");
      repository.remove("README.md");
    },
  },
  "a commit and leftovers": {
    act: () => {
      repository.write("a.txt", "one\n");
      repository.commit();
      repository.write("src/main.ts", "changed\n");
    },
  },
  "changes that stay": {
    commit: "agent",
    act: () => {
      repository.write("a.txt", "one\n");
      repository.commit();
      repository.write("src/main.ts", "changed\n");
    },
  },
};

describe("in a big repository the work tree is walked once in an iteration, gates and mark included", () => {
  test.each(Object.keys(SCENES))("%s", async (name) => {
    const { act, commit = "ralph" } = SCENES[name]!;
    const from = await workspace.snapshot();
    act();
    writeFileSync(calls, "");
    workspace.lookAhead();
    await workspace.collect({ ...requestFrom(from, "TODO.md"), commit });
    const began = await workspace.beforeGates();
    await workspace.leftoversAfterGates(NO_LEFTOVERS, began);
    repository.write("TODO.md", "- [x] one\n");
    const request = { ...requestFrom(from, "TODO.md"), path: "TODO.md" };
    expect(await workspace.commitMark(request)).not.toBeNull();
    expect(walksIn(readFileSync(calls, "utf8"))).toEqual([expect.stringMatching(/ status /)]);
  });
});

/** The calls in which git looks at every file. */
function walksIn(log: string): readonly string[] {
  const lines = log.split("\n").filter((line) => line !== "");
  expect(lines.length).toBeGreaterThan(0);
  return lines.filter((line) => {
    if (/ (commit|add|reset|checkout|stash) /.test(line)) return true;
    if (/ status /.test(line)) return !line.includes(" -- :(literal)");
    // A comparison with the work tree names one commit, and must say which paths it is about.
    const compared = / diff .*? ([0-9a-f]{40}(?: [0-9a-f]{40})?) --(.*)$/.exec(line);
    return (
      compared !== null && compared[1]?.length === 40 && compared[2] === "" && !line.includes("--cached")
    );
  });
}
