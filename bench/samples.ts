import { spawnSync } from "node:child_process";

/** Measures each in turn, round after round, so that a busy moment hits all of them alike. */
export function interleaved<Name extends string>(
  rounds: number,
  measures: Readonly<Record<Name, () => readonly number[]>>,
): Record<Name, readonly (readonly number[])[]> {
  const names = Object.keys(measures) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as (readonly number[])[]])) as Record<
    Name,
    (readonly number[])[]
  >;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) values[name].push(measures[name]());
  }
  return values;
}

/** How long it takes, in milliseconds. */
export function timeOf(run: () => void): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

export async function timeOfAsync(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** No settings but the repository's own. */
export const BARE_ENV = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** Runs a program to its end and insists on how it went; answers what it printed. */
export function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly codes?: readonly number[];
    readonly input?: string;
  } = {},
): string {
  const env = { ...BARE_ENV, ...options.env };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    input: options.input ?? "",
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if ((options.codes ?? [0]).includes(status ?? -1)) return stdout;
  throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${(stderr + stdout).slice(-2_000)}`);
}
