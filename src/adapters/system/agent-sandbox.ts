import type { Belongings } from "../../core/agents.ts";

/** Puts agents where they see little else; how is its own business. */
export interface AgentSandbox {
  /** Programs are found inside, whatever this machine has. */
  readonly hasOwnPrograms: boolean;
  /** May throw when the start cannot be put there: it never lets it happen outside. */
  around(start: AgentStart): Promise<AgentStartInside>;
  /** Ends what is left of an iteration where its processes are not to be found. */
  end?(marker: string): Promise<void>;
}

/** The start of an agent, as it would be without a sandbox. */
export interface AgentStart {
  readonly agent: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that its configuration sets. */
  readonly given: readonly string[];
  readonly workspace: string;
  /** Of the iteration. */
  readonly folder: string;
  /** Null when it reads none. */
  readonly promptFile: string | null;
  readonly marker: string;
  readonly belongings: Belongings;
  /** Of the project it may write nothing but to the iteration's folder. */
  readonly readsOnly?: boolean;
}

export interface AgentStartInside {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The process that is started only holds the agent: told to end, it would not let it finish. */
  readonly onlyHolds: boolean;
  /** To be called when the agent is gone. Answers what a person should know of its stay; null: nothing. */
  readonly close?: () => Promise<string | null>;
}
