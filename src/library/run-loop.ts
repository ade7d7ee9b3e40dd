import type { LoopOptions, LoopResult } from "./loop.ts";

/**
 * Runs a loop from its start to its end, in this process and as `ralph run` does it. Rejects with a `RalphError` when it
 * cannot start; however it ends after that is a result.
 */
export async function runLoop(options: LoopOptions = {}): Promise<LoopResult> {
  // Loaded when it is needed: whoever only reads a project needs none of it.
  const { embeddedLoop } = await import("./embedded-loop.ts");
  return embeddedLoop(options);
}
