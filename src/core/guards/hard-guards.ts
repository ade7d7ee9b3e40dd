import { dirtyTree } from "./dirty-tree.ts";
import type { Finding, Guard, GuardContext } from "./guard.ts";
import { noChanges } from "./no-changes.ts";
import { offBranch } from "./off-branch.ts";

/** If one of these objects, no gate needs to run. */
const HARD_GUARDS: readonly Guard[] = [noChanges, offBranch, dirtyTree];

export function hardFindings(context: GuardContext): readonly Finding[] {
  return HARD_GUARDS.flatMap((guard) => {
    const sentence = guard.check(context);
    return sentence === undefined ? [] : [{ guard: guard.name, intervention: guard.intervention, sentence }];
  });
}
