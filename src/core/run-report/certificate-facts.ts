import { formatDuration } from "../duration.ts";
import { few } from "../few.ts";
import { count } from "../projections/explain-words.ts";
import type { Acceptance } from "./task-report.ts";
import { money } from "./words.ts";

export interface CertificateFact {
  readonly name: string;
  readonly value: string;
  /** A hash, not words. */
  readonly isExact: boolean;
}

const PATHS_SHOWN = 20;

/** What was claimed, and everything that stood behind it. */
export function certificateFacts({ iteration, commit, certificate }: Acceptance): readonly CertificateFact[] {
  const { claim, agent, base, changed, gates, checks, warnings, iterations, costUsd } = certificate;
  const files = `${count(changed.files, "file")}: ${few(changed.paths, PATHS_SHOWN)}`;
  const asked = gates.map(
    ({ name, status, durationMs }) => `${name} ${status} (${formatDuration(durationMs)})`,
  );
  const cost = costUsd === null ? "cost unknown" : money(costUsd);
  return [
    words("Claim", claim === null ? "a single attempt needs none" : `${claim}, by ${agent}`),
    commit === null ? words("Commit", "none") : { name: "Commit", value: commit, isExact: true },
    ...(base === null ? [] : [{ name: "Since", value: base, isExact: true }]),
    words("Changed", changed.files === 0 ? "nothing" : files),
    words("Gates", asked.length === 0 ? "none is configured" : asked.join(", ")),
    words("Checks", checks.length === 0 ? "none" : checks.join(", ")),
    ...(warnings.length === 0 ? [] : [words("Warnings", warnings.join("; "))]),
    words("Effort", `${count(iterations, "iteration")}, the last one was ${iteration}; ${cost}`),
  ];
}

function words(name: string, value: string): CertificateFact {
  return { name, value, isExact: false };
}
