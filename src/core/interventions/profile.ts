import type { Instant } from "../time.ts";
import type { InterventionType } from "./intervention.ts";

/** The running statistics of one agent's behaviour. */
export interface AgentProfile {
  readonly iterations: number;
  readonly noFiles: number;
  readonly falseCompletions: number;
  readonly filesWritten: number;
  readonly citations: number;
  readonly lastReinforcement: Instant | null;
  /** Since its last accepted iteration. */
  readonly isOverThreshold: boolean;
}

export const NEW_PROFILE: AgentProfile = {
  iterations: 0,
  noFiles: 0,
  falseCompletions: 0,
  filesWritten: 0,
  citations: 0,
  lastReinforcement: null,
  isOverThreshold: false,
};

export interface ProfiledIteration {
  readonly filesWritten: number;
  readonly citations: number;
  readonly isAccepted: boolean;
}

export function profileIteration(profile: AgentProfile, iteration: ProfiledIteration): AgentProfile {
  return {
    ...profile,
    iterations: profile.iterations + 1,
    filesWritten: profile.filesWritten + iteration.filesWritten,
    citations: profile.citations + iteration.citations,
    isOverThreshold: profile.isOverThreshold && !iteration.isAccepted,
  };
}

export interface ProfiledIntervention {
  readonly type: InterventionType;
  readonly at: Instant;
  readonly isFedBack: boolean;
  /** It came from a threshold. */
  readonly leads: boolean;
}

export function profileIntervention(profile: AgentProfile, event: ProfiledIntervention): AgentProfile {
  return {
    ...profile,
    noFiles: profile.noFiles + (event.type === "no_files_detected" ? 1 : 0),
    falseCompletions: profile.falseCompletions + (event.type === "false_completion_detected" ? 1 : 0),
    lastReinforcement: event.isFedBack ? event.at : profile.lastReinforcement,
    isOverThreshold: profile.isOverThreshold || event.leads,
  };
}
