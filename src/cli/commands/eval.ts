import { inWords, MEASURE_WORDS, withInterval, wordsFor } from "../../eval/measures.ts";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { printOrWrite } from "../print-or-write.ts";
import { columns } from "../print/style.ts";
import { withWorkshop } from "../../compose-eval.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { evaluationJson } from "../../eval/evaluation-json.ts";
import {
  estimatesOf,
  makeEvaluation,
  type Evaluation,
  WORLDS_MAX,
  type Estimates,
  isMet,
  PRODUCTION_MEASURES,
  TARGETS,
  type Target,
} from "../../eval/evaluation.ts";
import { EVERYTHING, FEATURES, VARIANTS } from "../../eval/features.ts";
import { evaluationPage } from "../../eval/html/evaluation-page.ts";
import { PRODUCTION } from "../../eval/parameters.ts";

interface Flags {
  readonly iterations?: string;
  readonly seed?: string;
  readonly seeds?: string;
  readonly json?: boolean;
  readonly html?: boolean;
  readonly out?: string;
}

const ITERATIONS = 100;
const SEEDS = 15;

export function define(command: Command, act: Act): void {
  command
    .option("--iterations <n>", `the most iterations in one imagined project (${ITERATIONS})`)
    .option("--seed <n>", "which projects; the same seed gives the same output (1)")
    .option("--seeds <n>", `how many projects; more of them narrow the intervals (${SEEDS})`)
    .option("--json", "print JSON")
    .option("--html", "one page with charts that needs nothing else")
    .option("--out <file>", "write it there instead of printing it")
    .action((flags: Flags) => act((context) => evaluate(flags, context)));
}

async function evaluate(flags: Flags, context: CliContext): Promise<number> {
  if (flags.json === true && flags.html === true)
    throw new RalphError("usage", "--json and --html are two forms; choose one");
  const iterations = wholeNumber("--iterations", flags.iterations, ITERATIONS, 100_000);
  const seed = wholeNumber("--seed", flags.seed, 1, 1_000_000);
  const worlds = wholeNumber("--seeds", flags.seeds, SEEDS, WORLDS_MAX);
  const progress = createProgress(worlds * VARIANTS.length, context);
  const request = { seed, worlds, iterations, onPlayed: progress.step };
  const evaluation = await withWorkshop((workshop) => makeEvaluation(workshop, request));
  progress.end();
  await printOrWrite(shown(flags, evaluation), flags.out, "the evaluation", context);
  return 0;
}

function shown({ json, html }: Flags, evaluation: Evaluation): string {
  if (json === true) return `${JSON.stringify(evaluationJson(evaluation), null, 2)}\n`;
  return html === true ? evaluationPage(evaluation) : `${evalLines(evaluation).join("\n")}\n`;
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

/** The first of these have room for their interval. */
const WITH_INTERVAL = 3;

function evalLines(evaluation: Evaluation): readonly string[] {
  return [
    ...headLines(evaluation),
    "",
    ...columns(table(evaluation)),
    "",
    ...legend(),
    "",
    ...columns(TARGETS.map((target) => targetCells(target, estimatesOf(evaluation, EVERYTHING.name)))),
  ];
}

function headLines({ worlds, iterations, seed }: Evaluation): readonly string[] {
  const many = worlds === 1 ? "1 imagined project" : `${worlds} imagined projects`;
  return [
    `${many} of ${PRODUCTION.tasks} tasks, at most ${iterations} iterations each, seed ${seed}: the real loop, imagined agents.`,
    worlds === 1
      ? "Shares in per cent. One project says little: more --seeds bring 95 % intervals."
      : "In brackets the 95 % interval over the projects (bootstrap). Shares in per cent.",
  ];
}

function table({ results }: Evaluation): readonly (readonly string[])[] {
  const rows = results.map(({ variant, estimates }) => [
    variant.name,
    ...MEASURE_WORDS.map(({ measure, form }, at) =>
      at < WITH_INTERVAL ? withInterval(estimates[measure], form) : inWords(estimates[measure]?.mean, form),
    ),
  ]);
  const production = MEASURE_WORDS.map(({ measure, form }) => {
    const value = PRODUCTION_MEASURES[measure];
    return value === undefined ? "" : inWords(value, form);
  });
  return [["", ...MEASURE_WORDS.map(({ short }) => short)], ["production", ...production], ...rows];
}

function legend(): readonly string[] {
  return [
    ...columns(MEASURE_WORDS.map(({ short, long }) => [short, long])),
    "",
    ...columns(Object.entries(FEATURES)),
  ];
}

function targetCells(target: Target, everything: Estimates): readonly string[] {
  const { measure, name, wanted } = target;
  const [{ form } = { form: "count" as const }] = wordsFor(measure);
  const met = isMet(target, everything);
  const unit = form === "percent" ? " %" : "";
  const value = inWords(everything[measure]?.mean, form);
  const goal = `${wanted.is} ${inWords(wanted.value, form)}${unit}`;
  return [
    met === null ? "–" : met ? "✔" : "✗",
    name,
    met === null ? value : `${value}${unit}`,
    `(target: ${goal})`,
  ];
}
