import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { RALPH, sampleProject } from "./sample-project.ts";

const BYTES = 200_000_000;
const FLOOD = `yes "a line of output that an agent might well print, again and again" | head -c ${BYTES}`;

/** How fast a flood of output goes to disk, and what it takes of our memory. */
export async function measureOutput(): Promise<readonly string[]> {
  const bare = await timed("sh", ["-c", `${FLOOD} > flood.txt`]);
  const ours = await timed(RALPH, ["run", "--quiet"]);
  return [
    `output of ${BYTES / 1_000_000} MB in one iteration`,
    `  to a file by the shell  ${bare.seconds.toFixed(1)} s`,
    `  through ralph           ${ours.seconds.toFixed(1)} s   ${(BYTES / 1_000_000 / ours.seconds).toFixed(0)} MB/s   peak memory ${(ours.peakKb / 1_024).toFixed(0)} MB`,
  ];
}

async function timed(command: string, args: readonly string[]): Promise<{ seconds: number; peakKb: number }> {
  const project = sampleProject(1, [
    "sh",
    "-c",
    `${FLOOD}; echo x > x; echo; echo "<promise>COMPLETE</promise>"`,
  ]);
  const { folder: cwd } = project;
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd, stdio: "ignore", env: { PATH: process.env["PATH"], HOME: cwd } });
  let peakKb = 0;
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // It has just ended.
    }
  }, 20);
  await once(child, "exit");
  clearInterval(watch);
  project.dispose();
  return { seconds: (performance.now() - startedAt) / 1_000, peakKb };
}
