import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { findProgram } from "../../system/find-program.ts";
import { packagePlatforms } from "../../system/platform/platform-facts.ts";
import { THIS_PLATFORM } from "../../system/platform/this-platform.ts";

/** The program that npm's `copilot` starts. That one hands no signal on: ended, it would leave the agent running. */
export function nativeCopilot(loader: string): string | null {
  const programs = packagePlatforms(THIS_PLATFORM).map((platform) => nativeFor(platform, loader));
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
