/** What plugins said about the work of one iteration. A fact: nobody asks them again when the log is read. */
export interface PluginAnswers {
  readonly guards: readonly GuardAnswer[];
  /** Of open-ended tasks. */
  readonly exits: readonly ExitAnswer[];
}

export interface GuardAnswer {
  /** PLUGIN/GUARD. */
  readonly guard: string;
  readonly on: "claim" | "work";
  readonly warns: boolean;
  readonly advice: string | null;
  readonly objections: readonly string[];
  /** Why it could not answer: a claim is then neither accepted nor held against the agent. */
  readonly failure: string | null;
}

export interface ExitAnswer {
  /** PLUGIN/RULE. */
  readonly rule: string;
  readonly ends: "complete" | "failed";
  readonly because: string;
}
