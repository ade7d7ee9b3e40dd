import { spawnSync } from "node:child_process";

/** The middle one: outliers are the machine's business. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Measures each in turn, round after round, so that a busy moment hits all of them alike; medians. */
export function interleaved(
  rounds: number,
  measures: Readonly<Record<string, () => number>>,
): Record<string, number> {
  const values = new Map(Object.keys(measures).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of Object.entries(measures)) values.get(name)?.push(measure());
  }
  return Object.fromEntries([...values].map(([name, some]) => [name, median(some)]));
}

/** How long it takes, in milliseconds. */
export function timeOf(run: () => void): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

/** No settings but the repository's own. */
export const BARE_ENV = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** Runs a program to its end and insists on how it went. */
export function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
  options: { readonly env?: Readonly<Record<string, string>>; readonly code?: number } = {},
): void {
  const env = { ...BARE_ENV, ...options.env };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status === (options.code ?? 0)) return;
  throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stderr}${stdout}`);
}
