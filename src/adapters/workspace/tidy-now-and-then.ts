import type { Git } from "../git/git.ts";

/** Each leaves a few objects, and git itself begins to mind at some 6,700. */
const ITERATIONS = 1_000;

/**
 * To be called once an iteration. Git tidies up after its own commands, but not after ours: a run of a week
 * would leave a file for each object. Whether there is anything to do, and whether the operator wants it, git knows.
 */
export function createTidying(every = ITERATIONS): (git: Git) => Promise<void> {
  let iterations = 0;
  return async (git) => {
    iterations += 1;
    // How it went does not matter to the work; the next time comes.
    if (iterations % every === 0) await git.run(["gc", "--auto", "--quiet"], { tidies: true });
  };
}
