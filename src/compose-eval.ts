import { defaultConfig } from "./config/load-config.ts";
import { resolveSettings } from "./config/resolve-settings.ts";
import type { Workshop } from "./eval/evaluation.ts";
import { AGENT, IMAGINED_AGENT, SOURCE } from "./eval/imagined-ports.ts";
import { WorkerPool } from "./eval/worker-pool.ts";

/** The program of a thread: beside this file, or beside the folder of the chunk that this file has become. */
const THREAD = import.meta.url.endsWith(".ts") ? "./eval-worker.ts" : "../eval-worker.js";

/** Gives threads that play imagined projects with the settings of a project without a configuration. */
export async function withWorkshop<T>(work: (workshop: Workshop) => Promise<T>): Promise<T> {
  const { settings } = resolveSettings(defaultConfig(), { agent: AGENT }, SOURCE, [IMAGINED_AGENT]);
  const pool = new WorkerPool(new URL(THREAD, import.meta.url));
  try {
    return await work({ play: (play) => pool.play(play), defaults: settings });
  } finally {
    await pool.close();
  }
}
