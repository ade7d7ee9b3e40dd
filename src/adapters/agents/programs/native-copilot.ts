import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { findProgram } from "../../system/find-program.ts";

/** There is one for each C library, of which npm installs the one that fits. */
const PLATFORMS = process.platform === "linux" ? ["linux", "linuxmusl"] : [process.platform];

/** The program that npm's `copilot` starts. That one hands no signal on: ended, it would leave the agent running. */
export function nativeCopilot(loader: string): string | null {
  const programs = PLATFORMS.map((platform) => nativeFor(platform, loader));
  return programs.find((program) => program !== null) ?? null;
}

function nativeFor(platform: string, loader: string): string | null {
  try {
    const at = createRequire(realpathSync(loader));
    // Its package offers the program, and no other file.
    return findProgram(at.resolve(`@github/copilot-${platform}-${process.arch}`), "/", {});
  } catch {
    return null; // installed in another way, where it may well be the program itself
  }
}
