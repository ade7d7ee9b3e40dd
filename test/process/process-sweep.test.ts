import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { sweep } from "../../src/adapters/process/process-sweep.ts";
import { eventually, isAlive } from "../fixtures/is-alive.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function start(marker: string, script = "exec sleep 60", env: Record<string, string> = {}): number {
  const child = spawn("bash", ["-c", script], {
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"], ...env, RALPH_MARKER: marker },
  });
  children.push(child);
  return child.pid!;
}

test("a sweep ends what carries exactly the marker, and counts it", async () => {
  const marker = `sweep-${process.pid}`;
  const mine = [start(marker), start(marker, "exec sleep 60", { BIG: "x".repeat(100_000) })];
  const others = [
    start(`${marker}0`),
    start(marker.slice(0, -1)),
    start("x", "exec sleep 60", { X: `RALPH_MARKER=${marker}` }),
  ];
  expect(await sweep(marker)).toBe(2);
  expect(mine.some(isAlive)).toBe(false);
  expect(others.every(isAlive)).toBe(true);
  expect(await sweep(marker)).toBe(0);
});

test("a sweep ends what ignores TERM", async () => {
  const marker = `stubborn-${process.pid}`;
  const pid = start(marker, "trap '' TERM; while :; do sleep 0.1; done");
  // In the mask of what is ignored, TERM has a bit in the fourth digit from the end.
  const ignoresTerm = (): boolean =>
    /^SigIgn:.*[4-7c-f]...$/im.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  expect(await eventually(ignoresTerm)).toBe(true);
  expect(await sweep(marker)).toBeGreaterThan(0);
  expect(isAlive(pid)).toBe(false);
});

test("a sweep spares ourselves", async () => {
  const marker = `own-${process.pid}`;
  const script = `import { sweep } from ${JSON.stringify(new URL("../../src/adapters/process/process-sweep.ts", import.meta.url).href)};
    process.exitCode = (await sweep(${JSON.stringify(marker)})) === 0 ? 7 : 1;`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: "ignore",
    env: { PATH: process.env["PATH"], RALPH_MARKER: marker },
  });
  expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(7);
});

test("a look at all processes costs milliseconds", async () => {
  await sweep("warm-up");
  const before = process.cpuUsage();
  for (let round = 0; round < 10; round += 1) await sweep("nobody");
  // Processor time: others on the machine do not count.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000 / 10).toBeLessThan(50);
});
