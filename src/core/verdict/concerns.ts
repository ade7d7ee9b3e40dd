import { few } from "../text.ts";
import { allRequiredPassed, failedBefore, failuresToMend, hasTurnedGreen, redGates } from "./checked-gate.ts";
import { isReading } from "../loop/stages.ts";
import type { CaseContext } from "./facts.ts";

/** Makes one doubt a claim and proves nothing: it is read, answered or asked about. */
export interface Concern {
  readonly name: ConcernName;
  readonly sentence: string;
}

export type ConcernName =
  | "old-checks-fail"
  | "white-space-only"
  | "files-not-found"
  | "words-against"
  | "checks-off"
  | "nothing-checks";

/** A concern, and who settled it with what words. `note`: nobody needs to. Null: it is open. */
export interface WeighedConcern extends Concern {
  readonly settledBy: "note" | "reader" | "agent" | "person" | "settings" | null;
  readonly answer: string | null;
  /** It speaks against the claim: the reader or the settings say so, or the agent owes an answer. */
  readonly isReal?: true;
}

export function settlementInWords(concern: WeighedConcern): string {
  const { settledBy, answer } = concern;
  const isReal = concern.isReal === true;
  const words = answer === null ? "" : `: ${answer.replace(/\.$/, "")}`;
  switch (settledBy) {
    case null:
      return isReal ? "the agent was asked and did not answer" : "open";
    case "note":
      return "a note, nobody has to answer it";
    case "reader":
      return `${isReal ? "real" : "harmless"}, says the second reader${words}`;
    case "agent":
      return `the agent answered${words}`;
    case "person":
      return `a person agreed${words}`;
    case "settings":
      return `${isReal ? "rejected" : "accepted"} by old_checks_fail = "${isReal ? "reject" : "accept"}"`;
  }
}

export function findConcerns(context: CaseContext): readonly Concern[] {
  const { settings, stage } = context;
  if (!settings.promise.verify || isReading(settings, stage)) return [];
  return (Object.keys(FINDERS) as ConcernName[]).flatMap((name) => {
    const sentence = FINDERS[name](context);
    return sentence === null ? [] : [{ name, sentence }];
  });
}

/** Whether nobody has to answer it: words count for nothing beside green gates. */
export function isNote({ name }: Concern, { gates }: CaseContext): boolean {
  if (name === "nothing-checks") return true;
  const isOfWords = name === "files-not-found" || name === "words-against";
  return isOfWords && gates !== null && allRequiredPassed(gates);
}

/** Those that somebody has to settle, in the order of the numbers that a reader gets. */
export function doubtsAmong(concerns: readonly Concern[], context: CaseContext): readonly Concern[] {
  return concerns.filter((concern) => !isNote(concern, context));
}

/** What an agent has to answer after a challenge. Numbers that it was told stay as they are. */
export function withChallenges(
  challenged: readonly Concern[],
  concerns: readonly WeighedConcern[],
): readonly Concern[] {
  const fresh = concerns.filter(
    ({ name, settledBy }) => settledBy === null && !challenged.some((known) => known.name === name),
  );
  return [...challenged, ...fresh.map(({ name, sentence }) => ({ name, sentence }))];
}

const FINDERS: Readonly<Record<ConcernName, (context: CaseContext) => string | null>> = {
  "old-checks-fail": oldChecksFail,
  // A gate that it turned green was about white space.
  "white-space-only": ({ evidence, gates }) =>
    evidence.isWhiteSpaceOnly === true && !(gates ?? []).some((gate) => gate.required && hasTurnedGreen(gate))
      ? "the change is nothing but white space"
      : null,
  "files-not-found": ({ evidence, report }) =>
    evidence.phantoms.length > 0 && report.claim.is === "complete"
      ? `files named as written are not among the changes: ${few(evidence.phantoms)}`
      : null,
  "words-against": ({ report }) => {
    const said = report.claim.is === "complete" ? (report.signals?.contradictions ?? []) : [];
    const quoted = said.map((sentence) => `"${sentence}"`);
    return quoted.length === 0 ? null : `the final words speak against it: ${few(quoted, 3)}`;
  },
  "checks-off": ({ evidence }) => {
    const found = evidence.suppressions ?? [];
    return found.length === 0 ? null : `new lines switch checks off: ${few(found, 5)}`;
  },
  "nothing-checks": ({ settings }) =>
    settings.gates.some(({ required }) => required) ? null : "no gate is configured",
};

function oldChecksFail({ oldChecks }: CaseContext): string | null {
  const red = redGates(oldChecks?.gates ?? []);
  if (oldChecks === null || red.length === 0) return null;
  const gates = red.map((gate) => {
    const failed = failuresToMend(gate);
    const names = failed.length === 0 ? "" : `: ${few(failed, 3)}`;
    return `gate "${gate.name}" fails${names}${failedBefore(gate) ? " (as before the task)" : ""}`;
  });
  return `with the checks as they were before the task (${few(oldChecks.files, 5)}), ${gates.join("; ")}`;
}
