/**
 * The environment under the names that we ask for. On Windows names have no case, which only the original knows and no
 * copy of it: `Path` becomes PATH there, and the user's folder HOME.
 */
export function settledEnvironment(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (platform !== "win32") return env;
  const settled = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      NAMES.has(name.toUpperCase()) ? name.toUpperCase() : name,
      value,
    ]),
  );
  return { ...settled, HOME: settled["HOME"] ?? settled["USERPROFILE"] };
}

const NAMES: ReadonlySet<string> = new Set(["PATH", "PATHEXT", "HOME", "USERPROFILE", "LOCALAPPDATA"]);
