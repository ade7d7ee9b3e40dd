import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtInAgents } from "../../src/adapters/agents/adapters.ts";
import { loadConfig, type LoadedConfig } from "../../src/config/load-config.ts";
import { RalphError } from "../../src/core/errors.ts";

/** The agents that need no configuration. */
export const BUILT_IN = builtInAgents("/opt/ralph");

export type Files = Readonly<Record<string, string>>;

/** Loads the configuration of a folder with these files. */
export async function load(files: Files, env: NodeJS.ProcessEnv = {}): Promise<LoadedConfig> {
  const root = mkdtempSync(join(tmpdir(), "ralph-config-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await loadConfig({
      root,
      ralphDir: join(root, ".ralph"),
      env,
      builtInAgents: BUILT_IN.map(({ name }) => name),
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** What a person reads when these files are wrong. */
export async function complaint(files: Files, env: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    await load(files, env);
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== "config") throw error;
    return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
  }
  return "nothing is wrong";
}
