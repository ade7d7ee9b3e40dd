import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { figureOf, type Benchmark } from "./benchmark.ts";
import { RALPH, ROOT, sampleProject } from "./sample-project.ts";
import { BARE_ENV } from "./samples.ts";

const BYTES = 200_000_000;
const ROUNDS = 5;
const NODE = join(ROOT, "node_modules", "node", "bin", "node");
const BARE_READER = join(import.meta.dirname, "bare-reader.ts");
const FLOOD = `yes "a line of output that an agent might well print, again and again" | head -c ${BYTES}; echo x > x; echo; echo "<promise>COMPLETE</promise>"`;

export const output: Benchmark = {
  about: `An agent that prints ${BYTES / 1e6} MB in one iteration, all of it kept in its transcript. The floor reads the same, line by line, and keeps it in a file.`,
  async measure() {
    const [ours, floor]: [Timed[], Timed[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      floor.push(await timed(NODE, [BARE_READER, FLOOD]));
      ours.push(await timed(RALPH, ["run", "--quiet"]));
    }
    const of = (pick: (one: Timed) => number) => ({
      ours: ours.map((one) => [pick(one)]),
      floor: floor.map((one) => [pick(one)]),
    });
    const floorIs = "a bare line reader";
    return [
      figureOf(
        { name: "time", floorIs, target: { of: "ratio", atMost: 1.1 } },
        of(({ ms }) => ms),
      ),
      figureOf(
        { name: "peak memory", unit: "MB", floorIs, target: { of: "ours", atMost: 100 } },
        of(({ peakMb }) => peakMb),
      ),
    ];
  },
};

interface Timed {
  readonly ms: number;
  readonly peakMb: number;
}

async function timed(command: string, args: readonly string[]): Promise<Timed> {
  const project = sampleProject(1, ["sh", "-c", FLOOD]);
  const { folder: cwd } = project;
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd, stdio: "ignore", env: { ...BARE_ENV, HOME: cwd } });
  let peakKb = 0;
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // It has just ended.
    }
  }, 20);
  const [code] = (await once(child, "exit")) as [number | null];
  const ms = performance.now() - startedAt;
  clearInterval(watch);
  project.dispose();
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { ms, peakMb: peakKb / 1_024 };
}
