import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually, isAlive } from "../fixtures/is-alive.ts";
import { createProject, until, type Project } from "./project.ts";

let project: Project;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-awake-"));
  project = createProject({
    tasks: ["one", "two"],
    env: { PATH: [folder, process.env["PATH"]].join(delimiter) },
  });
  install(`echo $$ >> '${folder}/pids'; while [ "\${1#--}" != "$1" ]; do shift; done; exec "$@"`);
});
afterEach(() => {
  project.dispose();
  rmSync(folder, { recursive: true });
});

/** A systemd-inhibit of our own. */
function install(script: string): void {
  const program = join(folder, "systemd-inhibit");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
}

/** The processes that kept the machine awake. */
function pids(): readonly number[] {
  const path = join(folder, "pids");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map(Number) : [];
}

describe.skipIf(process.platform !== "linux")("while a run works, the machine is kept awake", () => {
  test("by one process for all its agents, which ends with it", async () => {
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(await project.history()).toHaveLength(2);
    expect(pids()).toHaveLength(1);
    expect(await eventually(() => !pids().some(isAlive))).toBe(true);
  });

  test("and no longer, though it is killed", async () => {
    project.script({}, [[{ hang: true }]]);
    project.commit();
    const running = project.start("run");
    await until("the agent runs", () => pids().length === 1 && isAlive(pids()[0] ?? 0));
    running.child.kill("SIGKILL");
    await running.finished;
    expect(await eventually(() => !pids().some(isAlive))).toBe(true);
    project.script({}, [[{ shell: 'echo x > "$RALPH_TASK_ID"' }, { promise: "COMPLETE" }]]);
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("not with --no-keep-awake", async () => {
    expect(await project.ralph("run", "--no-keep-awake")).toMatchObject({ code: 0 });
    expect(pids()).toEqual([]);
  });

  test("if it can be, and otherwise nobody hears of it", async () => {
    install("echo not allowed >&2; exit 1");
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  });
});
