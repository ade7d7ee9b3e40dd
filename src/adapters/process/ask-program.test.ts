import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findProgram } from "./process-table.ts";
import { askProgram } from "./supervise.ts";

const HERE = { cwd: "/", env: { PATH: process.env["PATH"] } };
const say = (script: string, timeoutMs = 20_000): Promise<string | null> =>
  askProgram("bash", ["-c", script], { ...HERE, timeoutMs });

test("what a program prints is told as plain text", async () => {
  expect(await say(String.raw`printf '\033[2J2.1.3\033[0m\n'`)).toBe("2.1.3");
});

test.each([
  ["fails", "echo 1.2.3; exit 1"],
  ["says nothing", "true"],
  ["is not there", "exec no-such-program-here"],
])("one that %s tells nothing", async (_, script) => {
  expect(await say(script)).toBeNull();
});

test("one that leaves something behind that holds its output open is not waited for, and neither stays", async () => {
  expect(await say("(setsid sleep 300.5 &); echo 1.2.3")).toBe("1.2.3");
  expect(runs("sleep\x00300.5")).toBe(false);
});

test("one that does not end is ended, whatever it ignores, with all that it started", async () => {
  expect(await say("trap '' TERM INT; sleep 300.25 & while :; do sleep 0.1; done", 300)).toBeNull();
  expect(runs("sleep\x00300.25")).toBe(false);
});

test("a program is looked for in the PATH, and one with a folder from where we work", () => {
  expect(findProgram("sh", "/usr", { PATH: "/none:/bin:/usr/bin" })).toBe("/bin/sh");
  expect(findProgram("bin/sh", "/usr", {})).toBe("/usr/bin/sh");
  expect(findProgram("/bin/sh", "/usr", {})).toBe("/bin/sh");
  expect(findProgram("bin", "/usr", { PATH: "/usr" })).toBeNull();
});

function runs(command: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(command);
    } catch {
      return false; // no process, or gone
    }
  });
}
