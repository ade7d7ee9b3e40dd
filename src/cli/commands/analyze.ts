import { openProject, readConfig } from "../../app/project.ts";
import { analyzeOutput } from "../../adapters/agents/analyze-output.ts";
import { acpCommand } from "../../core/agents.ts";
import type { Command } from "commander";
import { projectAnalysis } from "../../core/views/analysis.ts";
import type { Config } from "../../config/schema.ts";
import { RalphError } from "../../core/errors.ts";
import { isStreamFormat, type StreamFormat } from "../../core/streams/stream-format.ts";
import type { Act, CliContext } from "../commands.ts";
import { wholeNumber } from "../run-options.ts";

interface AnalyzeFlags {
  readonly agent?: string;
  readonly promise?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
}

export function define(command: Command, act: Act): void {
  command
    .argument("<file>", "a saved output of an agent; - reads stdin")
    .option("--agent <name>", "whose output it is")
    .option("--promise <text>", "the text that a promise must have")
    .option("--stderr <file>", "what the agent printed on stderr")
    .option("--exit-code <number>", "how its process ended", wholeNumber("--exit-code", 0))
    .option("--json", "print JSON, which it does anyway")
    .action(act(analyze));
}

async function analyze(context: CliContext, file: string, flags: AnalyzeFlags): Promise<number> {
  const config = await configHere(context);
  const { format, report, failure, stream } = await analyzeOutput({
    file,
    stderrFile: flags.stderr ?? null,
    exitCode: flags.exitCode ?? null,
    promise: {
      completion: flags.promise ?? config?.promise.completion ?? "COMPLETE",
      requireXml: config?.promise.require_xml ?? true,
    },
    cwd: context.cwd,
    format: formatFor(flags.agent, config),
  });
  const part = stream === null ? null : { ...stream.facts, ...stream };
  const analysis = projectAnalysis(flags.agent ?? format, report, failure, part);
  context.print(JSON.stringify(analysis, null, 2));
  return 0;
}

/** Without a name the output itself tells. */
function formatFor(agent: string | undefined, config: Config | null): StreamFormat | "text" | null {
  if (agent === undefined) return null;
  if (acpCommand(agent) !== null) return "acp";
  const own = config?.agents[agent];
  // A command of one's own speaks plain text, whatever its name, unless it is said to speak something else.
  if (own?.command !== undefined || own?.format !== undefined) return own.format ?? "text";
  return isStreamFormat(agent) ? agent : "text";
}

/** Any output can be looked at, also where there is no repository and so no configuration. */
async function configHere(context: CliContext): Promise<Config | null> {
  try {
    return await readConfig(await openProject(context));
  } catch (error) {
    const isOutside = error instanceof RalphError && ["no-repository", "no-git"].includes(error.code);
    if (!isOutside) throw error;
    return null;
  }
}
