import { join } from "node:path";
import type { Plugins } from "./adapters/plugins/open-plugins.ts";
import type { Plugin } from "./adapters/plugins/plugin.ts";
import { builtInAgents, OWN_ROOT, type Project } from "./compose-project.ts";
import { withoutOwnSecrets } from "./core/redact.ts";
import type { Config } from "./config/schema.ts";
import { RalphError } from "./core/ralph-error.ts";
import { watchPlugin } from "./engine/plugin-errors.ts";

export type { Plugin, Plugins };

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

export interface PluginsRequest {
  readonly config: Pick<Config, "plugins">;
  readonly env: NodeJS.ProcessEnv;
  /** Of the program that runs us. */
  readonly given?: readonly Plugin[] | undefined;
  readonly warn: (text: string) => void;
}

/**
 * Loads the project's plugins, and with them runs code of the repository: only for commands that run its gates and agents
 * anyway. Without any it costs nothing.
 */
export async function pluginsOf(project: Project, request: PluginsRequest): Promise<Plugins> {
  const { config, env, given = [], warn } = request;
  if (config.plugins.length + given.length === 0) return NO_PLUGINS;
  const { openPlugins } = await import("./adapters/plugins/open-plugins.ts");
  return openPlugins({
    root: project.root,
    ralphDir: project.ralphDir,
    env: withoutOwnSecrets(env),
    configured: config.plugins,
    given,
    library: join(OWN_ROOT, "dist", "index.js"),
    knownAgents: builtInAgents().map(({ name }) => name),
    warn,
    onLoad: (shown, path) => watchPlugin({ shown, path, tell: warn }),
  });
}
