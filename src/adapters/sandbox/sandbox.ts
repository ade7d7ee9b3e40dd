import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { SandboxSettings } from "../../core/settings.ts";
import type { AgentSandbox, AgentStart } from "../system/agent-sandbox.ts";
import { namedByVariables, projectPlaces, withoutState, type SandboxedProject } from "./places-inside.ts";
import { isInside, shown, writable, type Place } from "./place.ts";
import { privateHome } from "./private-home.ts";

export interface SandboxOptions extends SandboxedProject {
  readonly settings: SandboxSettings;
  /** Where agents of this project keep what they keep in their HOME, a folder for each. */
  readonly homes: string;
  /** What starts agents where they reach a list of hosts only. */
  readonly bridge: readonly string[];
  /** Who we are. */
  readonly user: { readonly uid: number; readonly gid: number };
}

export interface Sandbox extends AgentSandbox {
  /** Throws when no sandbox can be made here. */
  requireUsable(workspace: string, env: Readonly<Record<string, string>>): Promise<void>;
}

/** What an agent sees besides the machine's own programs. */
export function ownPlaces(options: SandboxOptions, start: AgentStart): readonly Place[] {
  const { env, belongings, workspace } = start;
  const home = homeOf(env, workspace);
  const inHome = (path: string): string => path.replace(/^~(?=\/|$)/, home);
  const kept = join(options.homes, folderName(start.agent));
  return withoutState(options, [
    ...privateHome(kept, home, belongings.folders),
    ...belongings.shows.filter((path) => statSync(path, { throwIfNoEntry: false })).map(shown),
    ...namedByVariables(env),
    ...options.settings.read.map((path) => shown(required(inHome(path), "read"))),
    ...options.settings.write.map((path) => writable(required(inHome(path), "write"))),
    ...projectPlaces(options, start),
  ]);
}

/** Where an agent believes to be at home, which must be a place that can be a private one. */
export function homeOf(env: Readonly<Record<string, string>>, workspace: string): string {
  const home = env["HOME"]?.replace(/(?<=.)\/+$/, "") ?? "";
  if (home.startsWith("/") && home !== "/" && !isInside(home, workspace)) return home;
  const why = isInside(home, workspace) ? `is in the workspace ${workspace}` : "is no folder of anybody's";
  throw new RalphError(
    "no-sandbox",
    `in a sandbox agents get a HOME of their own, and HOME (${home}) ${why}`,
    {
      hint: "set HOME to a folder outside, or run without: --no-sandbox",
    },
  );
}

function required(path: string, key: "read" | "write"): string {
  if (lstatSync(path, { throwIfNoEntry: false })) return path;
  throw new RalphError("no-sandbox", `"sandbox.${key}" names ${path}, which is not there`, {
    hint: "make it, or take it out of the configuration",
  });
}

/** Names may be whole commands. */
function folderName(agent: string): string {
  return encodeURIComponent(agent).replaceAll("%", "=").replace(/^\./, "=2E").slice(0, 200);
}
