import type { ChangeSet } from "./evidence.ts";
import { outcomeOf, type GateOutcome } from "./checked-gate.ts";
import { criteriaOf } from "./reader.ts";
import type { GateSettings } from "../settings.ts";
import type { WeighedConcern } from "./concerns.ts";
import { guardsAsked, type CaseContext, type Finding } from "./facts.ts";

/** The record of an accepted task: what was claimed, and everything that stood behind it. */
export interface Certificate {
  /** In the agent's words; null for a single attempt, which needs none. */
  readonly claim: string | null;
  readonly agent: string;
  /** Where the work counts from. */
  readonly base: string | null;
  readonly changed: ChangeSet;
  readonly gates: readonly GateOutcome[];
  /** The guards that were asked and did not reject. */
  readonly checks: readonly string[];
  /** What they warned of. */
  readonly warnings: readonly string[];
  readonly iterations: number;
  readonly costUsd: number | null;
  /** The gates with the check files as they were; null or missing: no check file was touched. */
  readonly oldChecks?: { readonly files: readonly string[]; readonly gates: readonly GateOutcome[] } | null;
  /** These three are missing in older logs. */
  readonly concerns?: readonly WeighedConcern[];
  readonly criteria?: readonly CheckedCriterion[];
  /** Who read the claim; null: nobody. */
  readonly reader?: string | null;
  /** How a person accepted the claim; missing where nobody had to. */
  readonly person?: string;
}

export interface CheckedCriterion {
  readonly criterion: string;
  readonly by: "gate" | "reader" | "person" | "nobody";
  /** The gate's name, or the reader's reason. */
  readonly how: string | null;
}

type About = Pick<Certificate, "agent" | "base" | "iterations" | "costUsd">;

export function certify(
  context: CaseContext,
  concerns: readonly WeighedConcern[],
  findings: readonly Finding[],
  about: About,
): Certificate {
  const { report, evidence, gates, oldChecks, reading } = context;
  const { claim } = report;
  return {
    ...about,
    claim: claim.is === "complete" ? claim.promise : claim.is === "already-done" ? claim.reason : null,
    changed: evidence.changedSinceTaskBegan,
    gates: (gates ?? []).map(outcomeOf),
    checks: guardsAsked(context),
    warnings: findings.map(({ sentence }) => sentence),
    oldChecks: oldChecks && { files: oldChecks.files, gates: oldChecks.gates.map(outcomeOf) },
    concerns,
    criteria: checkedCriteria(context),
    reader: reading?.review == null ? null : reading.agent,
  };
}

/** A gate has checked a criterion that names it, the reader one that it calls met. Of a task without any, gates are all there is. */
function checkedCriteria({ task, settings, gates, reading }: CaseContext): readonly CheckedCriterion[] {
  const passed = settings.gates.filter((gate) =>
    (gates ?? []).some(({ name, status }) => name === gate.name && status === "passed"),
  );
  return (task === undefined ? [] : criteriaOf(task)).map((criterion, index): CheckedCriterion => {
    const gate = passed.find((one) => namesGate(criterion, one));
    if (gate !== undefined) return { criterion, by: "gate", how: gate.name };
    const read = reading?.review?.criteria.find((one) => one.criterion === index + 1);
    if (read?.answer === "met") return { criterion, by: "reader", how: read.reason };
    if (task?.criteria.length === 0 && read === undefined && passed.length > 0)
      return { criterion, by: "gate", how: passed.map(({ name }) => name).join(", ") };
    return { criterion, by: "nobody", how: read?.reason ?? null };
  });
}

/**
 * "`npm test` passes", "npm run lint passes", "All tests pass." A command of one word is an English word too often to be
 * found without marks: `make` is not meant by "make it fast".
 */
export function namesGate(
  criterion: string,
  { name, command }: Pick<GateSettings, "name" | "command">,
): boolean {
  if (criterion.includes(`\`${command}\``) || criterion.includes(`\`${name}\``)) return true;
  if (/\s/.test(command.trim()) && criterion.includes(command.trim())) return true;
  const [, subject = ""] = SAYS_THAT_IT_PASSES.exec(criterion.trim()) ?? [];
  return subject !== "" && singular(subject) === singular(name);
}

const SAYS_THAT_IT_PASSES =
  /^(?:all |the |all the |existing )*(\S+?)(?: gate| check)? (?:still )?(?:pass(?:es)?|succeeds?|(?:is|are) green)[.!]?$/i;

function singular(word: string): string {
  return word.toLowerCase().replace(/s$/, "");
}
