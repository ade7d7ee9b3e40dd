import { join } from "node:path";
import { builtInAgents as agentsBuiltIn } from "../adapters/agents/adapters.ts";
import { Logbook } from "../adapters/files/logbook.ts";
import type { Plugins } from "../adapters/plugins/open-plugins.ts";
import type { Plugin } from "../adapters/plugins/plugin.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/errors.ts";
import type { AgentSettings } from "../core/settings.ts";
import { withoutOwnSecrets } from "../core/redact.ts";
import { logEntry } from "../core/views/log-entry.ts";
import { watchPlugin } from "../engine/plugin-errors.ts";
import { knownRedactor } from "../engine/secrets-seen.ts";
import { OWN_ROOT, type Project } from "./project.ts";

export type { Plugin, Plugins };

export function builtInAgents(): readonly AgentSettings[] {
  return agentsBuiltIn(OWN_ROOT);
}

export const NO_PLUGINS: Plugins = {
  names: [],
  files: [],
  agents: [],
  gates: [],
  functions: [],
  advisers: undefined,
  notifiers: [],
  source: (name) => {
    throw new RalphError("no-tasks", `the source "plugin:${name}" needs a plugin, and none is configured`, {
      hint: 'name it in .ralph/ralph.toml: plugins = ["./my-plugin.ts"]',
    });
  },
};

/**
 * Loads the project's plugins, and those `given` by the program that runs us. This runs code of the repository, so only
 * commands do it that run its gates and agents anyway.
 */
export async function pluginsOf(
  project: Project,
  { plugins: configured }: Pick<Config, "plugins">,
  given: readonly Plugin[] = [],
): Promise<Plugins> {
  if (configured.length + given.length === 0) return NO_PLUGINS;
  const { openPlugins } = await import("../adapters/plugins/open-plugins.ts");
  const warn = warnerOf(project);
  return openPlugins({
    root: project.root,
    ralphDir: project.ralphDir,
    env: withoutOwnSecrets(project.env),
    configured,
    given,
    library: join(OWN_ROOT, "dist", "index.js"),
    knownAgents: builtInAgents().map(({ name }) => name),
    warn,
    onLoad: (shown, path) => watchPlugin({ shown, path, tell: warn }),
  });
}

/** Tells the person in front of the program, and the logbook, what goes wrong without ending it. */
function warnerOf({ ralphDir, env, say }: Project): (text: string) => void {
  // A run reports by itself that the logbook cannot be written; before the first run there is no folder for it.
  const logbook = new Logbook(ralphDir, { onTrouble: () => {} });
  return (text) => {
    const told = knownRedactor(env)(text);
    say(told);
    logbook.write(logEntry("warn", told, Date.now()));
  };
}
