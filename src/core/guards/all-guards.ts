import { approval } from "./approval.ts";
import { contradiction } from "./contradiction.ts";
import { dirtyTree } from "./dirty-tree.ts";
import { gateDefinitions } from "./gate-definitions.ts";
import type { Finding, Guard, GuardContext } from "./guard.ts";
import { noChanges } from "./no-changes.ts";
import { offBranch } from "./off-branch.ts";
import { passingTests } from "./passing-tests.ts";
import { phantomFiles } from "./phantom-files.ts";
import { pluginGuards } from "./plugin-guards.ts";
import { protectedPaths } from "./protected-paths.ts";
import { storyReview } from "./story-review.ts";
import { uncommittedWork } from "./uncommitted-work.ts";
import { weakenedTests } from "./weakened-tests.ts";

/** If one of these rejects, no gate needs to run. */
export function hardGuards({ evidence }: GuardContext): readonly Guard[] {
  return [...HARD_GUARDS, ...pluginGuards(evidence)];
}

export function allGuards(context: GuardContext): readonly Guard[] {
  return [...hardGuards(context), ...SOFT_GUARDS];
}

export const HARD_GUARDS: readonly Guard[] = [
  noChanges,
  offBranch,
  dirtyTree,
  uncommittedWork,
  protectedPaths,
  gateDefinitions,
  weakenedTests,
  phantomFiles,
  approval,
  storyReview,
];

/** These are weighed after the gates: hard evidence outranks words. */
export const SOFT_GUARDS: readonly Guard[] = [passingTests, contradiction];

export function findingsOf(
  guards: readonly Guard[],
  context: GuardContext,
  claimed: boolean,
): readonly Finding[] {
  return guards
    .filter((guard) => isAsked(guard, context, claimed))
    .flatMap((guard) => {
      const sentence = guard.check(context);
      if (sentence === undefined) return [];
      const rejects = guard.onlyWarns?.(context) !== true;
      const { name, intervention, advice = null, isBroken = false } = guard;
      return [{ guard: name, intervention, sentence, rejects, advice, ...(isBroken && { isBroken }) }];
    });
}

/** The checks that a claim had to pass. */
export function guardsAsked(context: GuardContext): readonly string[] {
  return allGuards(context)
    .filter((guard) => isAsked(guard, context, true))
    .map((guard) => guard.name);
}

function isAsked({ looksAt }: Guard, { report, settings }: GuardContext, claimed: boolean): boolean {
  if (looksAt === "work") return true;
  if (looksAt === "claim") return claimed;
  return claimed && report.claim.is === "complete" && settings.promise.verify;
}
