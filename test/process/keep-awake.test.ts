import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKeepAwake, type KeepAwake } from "../../src/adapters/process/keep-awake.ts";
import { eventually, isAlive } from "../fixtures/is-alive.ts";
import { startFixture } from "../fixtures/start-fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-awake-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program that notes its process id, its environment and its arguments, one a line, and then does this. */
function install(program: string, then: string): void {
  const notes = join(folder, "notes");
  const script = `#!/bin/sh\nfor each in "pid=$$" "secret=$SECRET_TOKEN" "$@"; do echo "$each" >> '${notes}'; done\n${then}\n`;
  writeFileSync(join(folder, program), script, { mode: 0o755 });
}

/** Becomes the command behind its options, as the real one runs it. */
const RUN_COMMAND = 'while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"';

function notes(): readonly string[] {
  const path = join(folder, "notes");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}

function pidOf(): number {
  return Number(notes()[0]?.slice("pid=".length));
}

function keepAwake(platform: NodeJS.Platform): KeepAwake {
  const path = [folder, process.env["PATH"]].join(delimiter);
  return createKeepAwake({ path, env: { ...process.env, SECRET_TOKEN: "hunter2" }, platform });
}

describe("the machine is kept awake", () => {
  test("by systemd-inhibit on Linux, from the first call to the release", async () => {
    install("systemd-inhibit", RUN_COMMAND);
    const awake = keepAwake("linux");
    awake.hold();
    awake.hold();
    expect(await eventually(() => notes().includes("cat"))).toBe(true);
    expect(notes().slice(1)).toEqual([
      "secret=",
      "--what=idle:sleep",
      "--who=ralph",
      "--why=an agent is at work",
      "--mode=block",
      "cat",
    ]);
    expect(isAlive(pidOf())).toBe(true);
    awake.release();
    expect(await eventually(() => !isAlive(pidOf()))).toBe(true);
  });

  test("by caffeinate on macOS, which watches us", async () => {
    install("caffeinate", "exec sleep 60");
    const awake = keepAwake("darwin");
    awake.hold();
    expect(await eventually(() => notes().length === 5)).toBe(true);
    expect(notes().slice(2)).toEqual(["-i", "-w", String(process.pid)]);
    awake.release();
    expect(await eventually(() => !isAlive(pidOf()))).toBe(true);
  });

  test("not for longer than we live, even if we are killed", async () => {
    install("systemd-inhibit", RUN_COMMAND);
    const holder = startFixture("hold-awake", [folder, process.env["PATH"]].join(delimiter));
    expect(await eventually(() => notes().includes("cat"))).toBe(true);
    expect(isAlive(pidOf())).toBe(true);
    holder.process.kill("SIGKILL");
    await expect(holder.result).rejects.toThrow("SIGKILL");
    expect(await eventually(() => !isAlive(pidOf()))).toBe(true);
  });

  test("never after the release", async () => {
    install("systemd-inhibit", RUN_COMMAND);
    const awake = keepAwake("linux");
    awake.release();
    awake.hold();
    expect(await eventually(() => notes().length > 0, 300)).toBe(false);
  });
});

describe("it is no error", () => {
  test.each<[string, NodeJS.Platform]>([
    ["that the program is missing", "darwin"],
    ["that the system has none", "aix"],
  ])("%s", (_, platform) => {
    const awake = createKeepAwake({ path: folder, env: {}, platform });
    awake.hold();
    awake.release();
  });

  test("that the system does not let it", async () => {
    install("systemd-inhibit", "exit 1");
    const awake = keepAwake("linux");
    awake.hold();
    expect(await eventually(() => notes().length > 0 && !isAlive(pidOf()))).toBe(true);
    awake.release();
  });
});
