import { spawnSync } from "node:child_process";

/** The middle one: outliers are the machine's business. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Runs each program in turn, round after round, so that a busy moment hits all of them alike; medians in ms. */
export function interleaved(
  rounds: number,
  programs: Readonly<Record<string, () => void>>,
): Record<string, number> {
  const times = new Map(Object.keys(programs).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(programs)) {
      const startedAt = performance.now();
      run();
      times.get(name)?.push(performance.now() - startedAt);
    }
  }
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)]));
}

/** Runs a program to its end and insists that it went well. */
export function mustRun(command: string, args: readonly string[], cwd: string): void {
  const env = { PATH: process.env["PATH"], HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  const { status, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stderr}`);
}
