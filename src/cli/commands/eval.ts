import type { Command } from "commander";
import { withWorkshop } from "../../compose-eval.ts";
import { hasLog, openProject } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { makeEvaluation, worldsToPlay } from "../../eval/evaluation.ts";
import { evaluationJson } from "../../eval/evaluation-json.ts";
import { WORLDS_MAX } from "../../eval/evaluate.ts";
import { historyFindings } from "../../eval/history/history-findings.ts";
import { HISTORY_EVENTS } from "../../eval/history/past-iterations.ts";
import { evaluationPage } from "../../eval/html/evaluation-page.ts";
import { historyPage } from "../../eval/html/history-page.ts";
import { snakeCase } from "../../eval/snake-case.ts";
import type { Act, CliContext } from "../commands.ts";
import { evalLines } from "../print/eval-lines.ts";
import { historyFindingLines } from "../print/history-finding-lines.ts";
import { printOrWrite } from "../print-or-write.ts";
import { withLog } from "../project-state.ts";

interface Flags {
  readonly iterations?: string;
  readonly seed?: string;
  readonly seeds?: string;
  readonly sensitivity?: boolean;
  readonly tuning?: boolean;
  readonly fromHistory?: boolean;
  readonly json?: boolean;
  readonly html?: boolean;
  readonly out?: string;
}

const ITERATIONS = 100;
const SEEDS = 20;

export function define(command: Command, act: Act): void {
  command
    .option("--iterations <n>", `the most iterations in one imagined project (${ITERATIONS})`)
    .option("--seed <n>", "which projects; the same seed gives the same output (1)")
    .option("--seeds <n>", `how many projects; more of them narrow the intervals (${SEEDS})`)
    .option("--sensitivity", "also with each uncertain number of the model at both ends of its range")
    .option("--tuning", "also with each threshold of the configuration at other values")
    .option("--from-history", "instead: which limits would have saved what in this project's own history")
    .option("--json", "print JSON")
    .option("--html", "one page with charts that needs nothing else")
    .option("--out <file>", "write it there instead of printing it")
    .action((flags: Flags) => act((context) => evaluate(flags, context)));
}

async function evaluate(flags: Flags, context: CliContext): Promise<number> {
  if (flags.json === true && flags.html === true)
    throw new RalphError("usage", "--json and --html are two forms; choose one");
  const text = flags.fromHistory === true ? await ofHistory(flags, context) : await ofModel(flags, context);
  await printOrWrite(text, flags.out, "the evaluation", context);
  return 0;
}

async function ofModel(flags: Flags, context: CliContext): Promise<string> {
  const iterations = wholeNumber("--iterations", flags.iterations, ITERATIONS, 100_000);
  const seed = wholeNumber("--seed", flags.seed, 1, 1_000_000);
  const worlds = wholeNumber("--seeds", flags.seeds, SEEDS, WORLDS_MAX);
  const extras = { sensitivity: flags.sensitivity === true, tuning: flags.tuning === true };
  const progress = createProgress(worldsToPlay(worlds, extras), context);
  const request = { seed, worlds, iterations, onPlayed: progress.step };
  const evaluation = await withWorkshop((workshop) => makeEvaluation(workshop, request, extras));
  progress.end();
  return shown(flags, {
    json: () => evaluationJson(evaluation),
    html: () => evaluationPage(evaluation),
    lines: () => evalLines(evaluation),
  });
}

async function ofHistory(flags: Flags, context: CliContext): Promise<string> {
  const ofModelOnly = (["iterations", "seed", "seeds", "sensitivity", "tuning"] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (ofModelOnly !== undefined)
    throw new RalphError(
      "usage",
      `--${ofModelOnly} is of imagined projects, and --from-history of this one`,
      {
        hint: "leave one of them out",
      },
    );
  const project = await openProject(context);
  const events = hasLog(project)
    ? await withLog(project, (log) => log.read(0, { types: HISTORY_EVENTS }))
    : [];
  const findings = historyFindings(events);
  if (findings === null)
    throw new RalphError(
      "usage",
      "no iteration has ended yet in this repository: there is nothing to learn from",
      {
        hint: "start one: ralph run; or see the imagined projects: ralph eval",
      },
    );
  return shown(flags, {
    json: () => ({ schema: "ralph.eval.history.v1", ...(snakeCase(findings) as object) }),
    html: () => historyPage(findings),
    lines: () => historyFindingLines(findings),
  });
}

interface Forms {
  readonly json: () => unknown;
  readonly html: () => string;
  readonly lines: () => readonly string[];
}

function shown({ json, html }: Flags, forms: Forms): string {
  if (json === true) return `${JSON.stringify(forms.json(), null, 2)}\n`;
  return html === true ? forms.html() : `${forms.lines().join("\n")}\n`;
}

function wholeNumber(flag: string, text: string | undefined, otherwise: number, most: number): number {
  if (text === undefined) return otherwise;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= most) return value;
  throw new RalphError("usage", `${flag} is "${text}"; expected a whole number from 1 to ${most}`);
}

/** One line that is rewritten, on a terminal only. */
function createProgress(
  all: number,
  { stderr }: CliContext,
): { readonly step: () => void; readonly end: () => void } {
  let played = 0;
  return {
    step: () => {
      played += 1;
      if (stderr.isTTY) stderr.write(`\r${played} of ${all} projects played`);
    },
    end: () => {
      if (stderr.isTTY) stderr.write("\r\u001b[K");
    },
  };
}
