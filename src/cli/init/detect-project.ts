import { builtInAgents, findProgram } from "../../compose.ts";
import { detectGates, type FoundGates } from "./detect-gates.ts";

export interface Detected {
  /** What the project itself calls its checks. */
  readonly gates: FoundGates;
  /** The first known agent on this machine. */
  readonly agent: string | null;
}

/** What can be known about a project without asking. */
export function detectProject(root: string, env: NodeJS.ProcessEnv): Detected {
  const programs = builtInAgents().filter(({ command }) => command === null);
  const hasProgram = (name: string): boolean => findProgram(name, root, env) !== null;
  return {
    gates: detectGates(root, hasProgram),
    agent: programs.find(({ name }) => hasProgram(name))?.name ?? null,
  };
}
