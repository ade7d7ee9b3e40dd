import { join } from "node:path";
import { mustRun } from "./samples.ts";

export interface BareIterations {
  readonly folder: string;
  readonly iterations: number;
  readonly agent: readonly string[];
  /** The work that the agent left and the mark, each committed as a person would. */
  readonly withCommits: boolean;
}

const PROGRAM = join(import.meta.dirname, "bare-iterations.ts");

/**
 * The same work done bare, by the iteration: the agent's process, two looks at where the branch is, one `git status`,
 * one durable commit to SQLite. The milliseconds of each. In a process of its own: the more memory one has, the longer
 * it takes to start another.
 */
export function timeBare(bare: BareIterations): readonly number[] {
  const printed = mustRun(process.execPath, [PROGRAM, JSON.stringify(bare)], bare.folder);
  return JSON.parse(printed) as readonly number[];
}
