import type { Command } from "commander";
import { githubPlace, usualPlace, type RoadmapDefaults, type SourceRequest } from "../compose.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/ralph-error.ts";

/** Which tasks, as typed. */
export interface SourceFlags {
  readonly source?: string;
  readonly roadmap?: string;
  readonly prompt?: string;
  readonly ralphDefaultIterations?: string;
  readonly ralphDefaultPromise?: string;
}

export function withSourceOptions(command: Command): Command {
  return command
    .option(
      "--source <file>",
      "the file with the tasks: a checklist, a roadmap, a tasks.json, a prompt; or github, github:LABEL, plugin:NAME",
    )
    .option("--roadmap <file>", "the same, read as a roadmap")
    .option("--prompt <file>", "the same, read as one open-ended prompt");
}

const PLUGIN = "plugin:";
const EXAMPLES: Readonly<Record<string, string>> = {
  source: "TODO.md",
  roadmap: "roadmap.md",
  prompt: "PROMPT.md",
};

/** Words win over flags, flags over the configuration. Flags count from `cwd`, the configuration from `root`. */
export function sourceRequest(
  goal: string | undefined,
  { source, roadmap, prompt }: SourceFlags,
  config: Pick<Config, "source" | "github">,
  { cwd, root, env }: { readonly cwd: string; readonly root: string; readonly env: NodeJS.ProcessEnv },
): SourceRequest {
  const given = Object.entries({ source, roadmap, prompt }).filter(([, path]) => path !== undefined);
  if (given.length > 1) throw new RalphError("usage", "give one of --source, --roadmap and --prompt");
  const [flag] = given.find(([, path]) => path?.trim() === "") ?? [];
  if (flag !== undefined)
    throw new RalphError("usage", `--${flag} is empty`, {
      hint: `name the file that has the tasks: --${flag} ${EXAMPLES[flag]}`,
    });
  if (goal?.trim() === "")
    throw new RalphError("usage", "the goal is empty", {
      hint: "say what is wanted, or leave it out to work on the list: ralph run",
    });
  if (goal !== undefined) return { is: "goal", goal };
  if (roadmap !== undefined) return { is: "file", path: roadmap, base: cwd, kind: "roadmap" };
  if (prompt !== undefined) return { is: "file", path: prompt, base: cwd, kind: "prompt" };
  const named = source ?? config.source;
  if (named.startsWith(PLUGIN)) return { is: "plugin", name: named.slice(PLUGIN.length) };
  const place = githubPlace(named, usualPlace(config));
  if (place !== null) return { is: "github", place, env };
  if (source !== undefined) return { is: "file", path: source, base: cwd };
  return config.source === "auto" ? { is: "auto" } : { is: "file", path: config.source, base: root };
}

/** What tasks of a roadmap get that loop and do not say themselves. */
export function roadmapDefaults(flags: SourceFlags): RoadmapDefaults {
  const { ralphDefaultIterations: text, ralphDefaultPromise: promise } = flags;
  const isCount = text === undefined || (/^\d+$/.test(text) && Number(text) >= 1);
  if (!isCount)
    throw new RalphError(
      "usage",
      `--ralph-default-iterations is "${text}"; expected a whole number of at least 1`,
    );
  if (promise?.trim() === "") throw new RalphError("usage", "--ralph-default-promise is empty");
  return { defaultIterations: text === undefined ? undefined : Number(text), defaultPromise: promise };
}
