import { accessSync, constants, statSync } from "node:fs";
import { programFiles } from "./platform/program-files.ts";
import { THIS_PLATFORM } from "./platform/this-platform.ts";

/** The file that a program's name stands for on this machine, or null. */
export function findProgram(name: string, cwd: string, env: NodeJS.ProcessEnv): string | null {
  return programFiles(THIS_PLATFORM, name, cwd, env).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not ours to run: either way it is not the program.
    return false;
  }
}
