import type { Command } from "commander";
import { analyzeOutput, openProject, readConfig } from "../../compose.ts";
import { projectAnalysis } from "../../core/projections/analysis.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { ExpectedPromise } from "../../core/report/read-promise.ts";
import type { Act, CliContext } from "../commands.ts";

interface AnalyzeFlags {
  readonly agent?: string;
  readonly promise?: string;
  readonly stderr?: string;
  readonly exitCode?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument("<file>", "a saved output of an agent; - reads stdin")
    .option("--agent <name>", "whose output it is")
    .option("--promise <text>", "the text that a promise must have")
    .option("--stderr <file>", "what the agent printed on stderr")
    .option("--exit-code <number>", "how its process ended")
    .action((file: string, flags: AnalyzeFlags) => act((context) => analyze(file, flags, context)));
}

/** Agents that speak a format of their own, which is not read yet. */
const STRUCTURED = /^(?:claude|codex|gemini|copilot|opencode|acp:.*)$/;

async function analyze(file: string, flags: AnalyzeFlags, context: CliContext): Promise<number> {
  const exitCode = flags.exitCode === undefined ? null : wholeNumber(flags.exitCode);
  const agent = flags.agent ?? "text";
  if (STRUCTURED.test(agent))
    context.stderr.write(`ralph: the format of ${agent} is not known yet; read as plain text\n`);
  const promise = await expectedPromise(flags.promise, context);
  const stderrFile = flags.stderr ?? null;
  const { report, failure } = await analyzeOutput({ file, stderrFile, exitCode, promise, cwd: context.cwd });
  context.stdout.write(`${JSON.stringify(projectAnalysis(agent, report, failure), null, 2)}\n`);
  return 0;
}

/** Any output can be looked at, also where there is no repository and so no configuration. */
async function expectedPromise(flag: string | undefined, context: CliContext): Promise<ExpectedPromise> {
  try {
    const { promise } = await readConfig(await openProject(context));
    return { completion: flag ?? promise.completion, requireXml: promise.require_xml };
  } catch (error) {
    const isOutside = error instanceof RalphError && ["no-repository", "no-git"].includes(error.code);
    if (!isOutside) throw error;
    return { completion: flag ?? "COMPLETE", requireXml: true };
  }
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new RalphError("usage", `--exit-code is "${text}"; expected a whole number such as 0 or 1`);
}
