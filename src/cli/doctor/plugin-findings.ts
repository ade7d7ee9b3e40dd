import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { Finding } from "./finding.ts";

/** Plugins as far as one can tell without loading them: whoever only looks at a repository runs nothing of it. */
export function pluginFindings({ plugins }: Pick<Config, "plugins">, root: string): readonly Finding[] {
  return plugins.map((plugin) => {
    const isPath = plugin.startsWith(".") || plugin.startsWith("/");
    const well = !isPath || existsSync(resolve(root, plugin));
    return {
      name: `plugin ${plugin}`,
      well,
      found: well ? "loaded when a run starts" : "there is no such file",
      advice: "paths of plugins count from the root of the repository",
    };
  });
}
