import { RALPH } from "./sample-project.ts";
import { mustRun } from "./samples.ts";

const ITERATION_LIMIT_CODE = 1;

/** A run in which everything is done, or the number of iterations ends it: the milliseconds of each iteration. */
export function timeIterations(
  folder: string,
  { allDone }: { readonly allDone: boolean },
): readonly number[] {
  const code = allDone ? 0 : ITERATION_LIMIT_CODE;
  const starts = mustRun(RALPH, ["run", "--json", "--keep-going", "--calls", "0"], folder, { code })
    .split("\n")
    .filter((line) => line.includes('"iteration.started"'))
    .map((line) => Date.parse((JSON.parse(line) as { readonly at: string }).at));
  return starts.slice(1).map((at, index) => at - (starts[index] ?? at));
}
