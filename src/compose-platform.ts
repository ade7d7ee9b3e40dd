import { settledEnvironment, THIS_PLATFORM } from "./adapters/system/platform/platform.ts";

export { THIS_PLATFORM };

/** The environment of this process, under the names that we ask for. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return settledEnvironment(THIS_PLATFORM, process.env);
}
