import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The file that a program's name stands for on this machine, or null. */
export function findProgram(name: string, cwd: string, env: NodeJS.ProcessEnv): string | null {
  const folders = name.includes("/") ? [cwd] : (env["PATH"] ?? "").split(delimiter);
  const candidates = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
  return candidates.find(isExecutable) ?? null;
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
