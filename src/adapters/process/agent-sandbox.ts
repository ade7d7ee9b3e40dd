import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Belongings } from "../../core/agents.ts";
import { RalphError } from "../../core/errors.ts";
import { asArgument } from "../../core/text.ts";

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

const MISSING = "missing-configuration";

/** Notes in our folder which configuration is missing while an agent runs; answers how to forget it. */
export function rememberMissing(stateFolder: string, paths: readonly string[]): () => void {
  mkdirSync(stateFolder, { recursive: true });
  writeFileSync(join(stateFolder, MISSING), paths.join("\0"));
  return () => forgetMissing(stateFolder);
}

export function forgetMissing(stateFolder: string): void {
  rmSync(join(stateFolder, MISSING), { force: true });
}

/** Throws when an agent has written configuration, and we were killed before we could take it back. */
export function refuseStrayConfiguration(stateFolder: string): void {
  const file = join(stateFolder, MISSING);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const found = text.split("\0").find((path) => path !== "" && lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return;
  throw new RalphError("config", `${found} was written while an agent ran in the sandbox`, {
    hint: `read it, then delete it; or keep it: rm ${asArgument(file)}`,
  });
}
