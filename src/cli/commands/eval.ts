import { printOrWrite } from "../print/output.ts";
import { evaluationWorkshop } from "../../app/eval-workshop.ts";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { wholeNumber } from "../run-options.ts";
import { columns } from "../print/style.ts";
import { RalphError } from "../../core/errors.ts";
import {
  estimatesOf,
  evaluate,
  evaluationJson,
  type Evaluation,
  PRODUCTION_MEASURES,
  signOf,
  TARGETS,
  WORLDS_MAX,
} from "../../eval/evaluation.ts";
import { evaluationPage } from "../../eval/evaluation-page.ts";
import { EVERYTHING, FEATURES, VARIANTS } from "../../eval/features.ts";
import { inWords, MEASURE_NAMES, MEASURES, withInterval } from "../../eval/measures.ts";
import { PRODUCTION } from "../../eval/parameters.ts";

interface Flags {
  readonly iterations?: number;
  readonly seed?: number;
  readonly seeds?: number;
  readonly html?: boolean;
  readonly out?: string;
}

const ITERATIONS = 100;
const SEEDS = 15;

export function define(command: Command, act: Act): void {
  command
    .option(
      "--iterations <n>",
      `the most iterations in one imagined project (${ITERATIONS})`,
      wholeNumber("--iterations", 1, 100_000),
    )
    .option(
      "--seed <n>",
      "which projects; the same seed gives the same output (1)",
      wholeNumber("--seed", 1, 1_000_000),
    )
    .option(
      "--seeds <n>",
      `how many projects; more of them narrow the intervals (${SEEDS})`,
      wholeNumber("--seeds", 1, WORLDS_MAX),
    )
    .option("--json", "print JSON")
    .option("--html", "one page with charts that needs nothing else")
    .option("--out <file>", "write it there instead of printing it")
    .action(act(evaluateProjects));
}

async function evaluateProjects(context: CliContext, flags: Flags): Promise<number> {
  if (context.json && flags.html === true)
    throw new RalphError("usage", "--json and --html are two forms; choose one");
  const { iterations = ITERATIONS, seed = 1, seeds: worlds = SEEDS } = flags;
  const { stderr } = context;
  let played = 0;
  const onPlayed = (): void => {
    played += 1;
    if (stderr.isTTY) stderr.write(`\r${played} of ${worlds * VARIANTS.length} projects played`);
  };
  const evaluation = await evaluate(evaluationWorkshop(), { seed, worlds, iterations, onPlayed });
  if (stderr.isTTY) stderr.write("\r\u001b[K");
  await printOrWrite(
    shown(evaluation, context.json, flags.html === true),
    flags.out,
    "the evaluation",
    context,
  );
  return 0;
}

function shown(evaluation: Evaluation, json: boolean, html: boolean): string {
  if (json) return `${JSON.stringify(evaluationJson(evaluation), null, 2)}\n`;
  return html ? evaluationPage(evaluation) : `${evalLines(evaluation).join("\n")}\n`;
}

/** The first of these have room for their interval. */
const WITH_INTERVAL = 3;

function evalLines(evaluation: Evaluation): readonly string[] {
  return [
    ...headLines(evaluation),
    "",
    ...columns(table(evaluation)),
    "",
    ...columns(MEASURE_NAMES.map((name) => [MEASURES[name].short, MEASURES[name].long])),
    "",
    ...columns(Object.entries(FEATURES)),
    "",
    ...columns(targetRows(evaluation)),
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
    ...MEASURE_NAMES.map((name, at) =>
      at < WITH_INTERVAL ? withInterval(estimates[name], name) : inWords(estimates[name]?.mean, name),
    ),
  ]);
  const production = MEASURE_NAMES.map((name) => inWords(PRODUCTION_MEASURES[name], name).replace("–", ""));
  return [["", ...MEASURE_NAMES.map((name) => MEASURES[name].short)], ["production", ...production], ...rows];
}

function targetRows(evaluation: Evaluation): readonly (readonly string[])[] {
  const everything = estimatesOf(evaluation, EVERYTHING);
  return TARGETS.map((target) => {
    const { measure, name, wanted } = target;
    const goal = `(target: ${wanted.is} ${inWords(wanted.value, measure, " %")})`;
    return [signOf(target, everything), name, inWords(everything[measure]?.mean, measure, " %"), goal];
  });
}
