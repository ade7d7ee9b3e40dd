import type { AgentProfile } from "../interventions/profile.ts";
import type { State } from "../loop/state.ts";
import { isoTime } from "../time.ts";

/** One agent as `profile.json` and `ralph profile --json` show it. */
export interface ProfileEntry {
  readonly agent_id: string;
  readonly total_iterations: number;
  readonly no_files_count: number;
  readonly false_completion_count: number;
  readonly avg_files_per_iteration: number | null;
  readonly avg_evidence_count: number | null;
  readonly last_reinforcement: string | null;
  readonly intervention_threshold_exceeded: boolean;
}

/** By name. Events of an older ralph name no agent; they make no profile. */
export function profileEntries({ profiles }: Pick<State, "profiles">): readonly ProfileEntry[] {
  return Object.entries(profiles)
    .filter(([agent]) => agent !== "")
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([agent, profile]) => profileEntry(agent, profile));
}

/** The content of `profile.json`. */
export function profilesDocument(state: State): unknown {
  return { $schema: "ralph_gold.profile.v1", profiles: profileEntries(state) };
}

function profileEntry(agent: string, profile: AgentProfile): ProfileEntry {
  const { iterations, lastReinforcement } = profile;
  const each = (sum: number): number | null => (iterations === 0 ? null : sum / iterations);
  return {
    agent_id: agent,
    total_iterations: iterations,
    no_files_count: profile.noFiles,
    false_completion_count: profile.falseCompletions,
    avg_files_per_iteration: each(profile.filesWritten),
    avg_evidence_count: each(profile.citations),
    last_reinforcement: lastReinforcement === null ? null : isoTime(lastReinforcement),
    intervention_threshold_exceeded: profile.isOverThreshold,
  };
}
