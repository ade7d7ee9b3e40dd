import { dollars } from "../loop/brakes.ts";
import { concernSentence, criterionSentence } from "../views/explain-iteration.ts";
import { asSentence, count } from "../views/explain-words.ts";
import { OUTCOME_WORDS } from "../views/signs.ts";
import type { TimeSpan } from "../views/timeline.ts";
import type { GateOutcome } from "../verdict/checked-gate.ts";
import { few } from "../text.ts";
import { formatDuration, type Instant, isoTime } from "../time.ts";
import type { EventOf } from "../events.ts";
import type { RunReport } from "./run-report.ts";

/** How it ended, in a few words. */
export function title({ run, isDriven }: RunReport): string {
  if (run.outcome !== null) return OUTCOME_WORDS[run.outcome].title;
  return isDriven ? "It is still running" : "Interrupted: its process is gone";
}

/** Why it ended, as a sentence. */
export function whyInWords({ run, isDriven }: RunReport): string {
  if (run.outcome !== null)
    return `It ended as ${run.outcome} (exit code ${run.exitCode ?? 0}): ${asSentence(run.reason ?? "")}`;
  return isDriven
    ? "This is how it stands so far."
    : "It never came to its end; the next run goes on where it stopped.";
}

export function costInWords({ run, unpriced }: RunReport): string {
  if (run.costUsd === null) return "unknown";
  return unpriced === 0
    ? money(run.costUsd)
    : `${money(run.costUsd)} and ${count(unpriced, "iteration")} unknown`;
}

export function money(usd: number | null): string {
  if (usd === null) return "unknown";
  return usd > 0 && usd < 0.005 ? "under $0.01" : dollars(usd);
}

/** "2026-01-20 22:03 UTC" */
export function moment(at: Instant): string {
  return `${isoTime(at).slice(0, 16).replace("T", " ")} UTC`;
}

export function timeOfDay(at: Instant): string {
  return isoTime(at).slice(11, 19);
}

export const SPANS: Readonly<Record<TimeSpan["is"], string>> = {
  agent: "agent",
  gates: "gates",
  "old-checks": "old checks",
  reader: "second reader",
  baseline: "gates before the task",
  merge: "merge",
  wait: "waiting",
};

const LONGEST = 2_000;

/** Agents may say very much. */
export function bounded(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST)} … (${text.length - LONGEST} more characters)`;
}

export interface CertificateFact {
  readonly name: string;
  /** Each on a line of its own. */
  readonly values: readonly string[];
  /** A hash, not words. */
  readonly isExact: boolean;
}

const PATHS_SHOWN = 20;

/** What was claimed, and everything that stood behind it. */
export function certificateFacts({
  commit,
  certificate,
}: Pick<EventOf<"task.completed">, "commit" | "certificate">): readonly CertificateFact[] {
  const { claim, agent, base, changed, gates, oldChecks, checks, warnings, iterations, costUsd } =
    certificate;
  const by = agent === "" ? "" : `, by ${agent}`;
  const files = `${count(changed.files, "file")}: ${few(changed.paths, PATHS_SHOWN)}`;
  const cost = costUsd === null ? "cost unknown" : money(costUsd);
  const old =
    oldChecks == null
      ? []
      : [`${gatesInWords(oldChecks.gates)}; as before the task: ${few(oldChecks.files, PATHS_SHOWN)}`];
  const reader = certificate.reader ?? null;
  return [
    words("Claim", claim === null ? "a single attempt needs none" : `${claim}${by}`),
    commit === null ? words("Commit", "none") : hash("Commit", commit),
    ...(base === null ? [] : [hash("Since", base)]),
    words("Changed", changed.files === 0 ? "nothing" : files),
    words("Gates", gates.length === 0 ? "none is configured" : gatesInWords(gates)),
    words("Old checks", ...old),
    words("Reader", ...(reader === null ? [] : [reader])),
    words("Concerns", ...(certificate.concerns ?? []).map(concernSentence)),
    words("Criteria", ...(certificate.criteria ?? []).map(criterionSentence)),
    words(
      "Accepted",
      ...(certificate.person === undefined ? [] : [`by a person: ${asSentence(certificate.person)}`]),
    ),
    words("Checks", checks.length === 0 ? "none" : checks.join(", ")),
    words("Warnings", ...warnings),
    words("Effort", `${count(iterations, "iteration")}; ${cost}`),
  ].filter(({ values }) => values.length > 0);
}

/** "tests passed (9s), lint did not run" */
function gatesInWords(gates: readonly GateOutcome[]): string {
  return gates
    .map(({ name, status, durationMs, failures }) => {
      if (status === "missing" || status === "skipped") return `${name} did not run`;
      const failing = failures.length === 0 ? "" : `: ${few(failures, 3)}`;
      return `${name} ${status} (${formatDuration(durationMs)})${failing}`;
    })
    .join(", ");
}

function words(name: string, ...values: readonly string[]): CertificateFact {
  return { name, values, isExact: false };
}

function hash(name: string, value: string): CertificateFact {
  return { name, values: [value], isExact: true };
}
