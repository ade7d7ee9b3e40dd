import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import type { Settings } from "../settings.ts";
import type { InterventionType } from "../verdict/intervention.ts";

/** A pure check of a completion claim against evidence; hard ones object before any gate runs. */
export interface Guard {
  readonly name: string;
  readonly intervention: InterventionType;
  /** The objection, as the end of "claims completion, but …", or undefined when there is none. */
  readonly check: (context: GuardContext) => string | undefined;
}

export interface GuardContext {
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly settings: Settings;
}

export interface Finding {
  readonly guard: string;
  readonly intervention: InterventionType;
  readonly sentence: string;
}
