import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { findProgram } from "../../system/find-program.ts";

/** The program that npm's `copilot` starts. That one hands no signal on: ended, it would leave the agent running. */
export function nativeCopilot(loader: string): string | null {
  try {
    const at = createRequire(realpathSync(loader));
    const folder = dirname(at.resolve(`@github/copilot-${process.platform}-${process.arch}/package.json`));
    return findProgram(join(folder, "copilot"), folder, {});
  } catch {
    return null; // installed in another way, where it may well be the program itself
  }
}
