import { realpathSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { findProgram } from "../system/find-program.ts";
import { isInside } from "./place.ts";

/**
 * The file that a program's name stands for, but for what lies in the workspace: what makes the sandbox runs outside
 * of it, and must be nothing that an agent has put there.
 */
export function findOutside(name: string, workspace: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((path) => isAbsolute(path));
  const found = folders.map((path) => findProgram(name, "/", { PATH: path })).filter((path) => path !== null);
  return found.find((path) => !isInside(realpathSync(path), realpathSync(workspace))) ?? null;
}
