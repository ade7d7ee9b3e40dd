import { defaultConfig } from "../config/load-config.ts";
import { resolveSettings } from "../config/resolve-settings.ts";
import type { Workshop } from "../eval/evaluation.ts";
import { AGENT, IMAGINED_AGENT, SOURCE } from "../eval/imagined-ports.ts";
import { MemoryLog } from "../adapters/store/memory-log.ts";

/** Imagined projects are played in memory, with the settings of a project without a configuration. */
export function evaluationWorkshop(): Workshop {
  const { settings } = resolveSettings(defaultConfig(), { agent: AGENT }, SOURCE, [IMAGINED_AGENT]);
  return {
    defaults: settings,
    openLog: (clock) => new MemoryLog({ now: () => clock.now(), pause: () => Promise.resolve() }),
  };
}
