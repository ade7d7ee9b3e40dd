import { RALPH } from "./sample-project.ts";
import { mustRun } from "./samples.ts";

/** The limit of iterations; and tasks that have used up their own in several runs are blocked by then. */
const LIMIT_CODES = [1, 2];

/** A run in which everything is done, or the number of iterations ends it: the milliseconds of each iteration. */
export function timeIterations(
  folder: string,
  { allDone }: { readonly allDone: boolean },
): readonly number[] {
  const codes = allDone ? [0] : LIMIT_CODES;
  const starts = mustRun(RALPH, ["run", "--json", "--keep-going", "--calls", "0"], folder, { codes })
    .split("\n")
    .filter((line) => line.includes('"iteration.started"'))
    .map((line) => Date.parse((JSON.parse(line) as { readonly at: string }).at));
  return starts.slice(1).map((at, index) => at - (starts[index] ?? at));
}
