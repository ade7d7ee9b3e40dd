import {
  ALL_WORSE,
  fromTo,
  inWords,
  MEASURE_WORDS,
  TUNED,
  withInterval,
  wordsFor,
} from "../../eval/measures.ts";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { printOrWrite } from "../print-or-write.ts";
import { columns } from "../print/style.ts";
import { withLog } from "../project-state.ts";
import { withWorkshop } from "../../compose-eval.ts";
import { hasLog, openProject } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { snakeCase } from "../../core/wire.ts";
import { evaluationJson } from "../../eval/evaluation-json.ts";
import {
  estimatesOf,
  makeEvaluation,
  worldsToPlay,
  type Evaluation,
  WORLDS_MAX,
  type Estimates,
  isMet,
  PRODUCTION_MEASURES,
  TARGETS,
  type Target,
} from "../../eval/evaluation.ts";
import { BASELINE, EVERYTHING, FEATURES } from "../../eval/features.ts";
import {
  historyFindings,
  type HistoryFindings,
  durationInWords,
  limitInWords,
  lossInWords,
  recoveryInWords,
  savingInWords,
  timeoutInWords,
  type LimitFinding,
  type TimeoutFinding,
} from "../../eval/history/history-findings.ts";
import { HISTORY_EVENTS } from "../../eval/history/past-iterations.ts";
import { evaluationPage } from "../../eval/html/evaluation-page.ts";
import { historyPage } from "../../eval/html/history-page.ts";
import { PRODUCTION } from "../../eval/parameters.ts";

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
const SEEDS = 15;

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
    ...sensitivityLines(evaluation),
    ...tuningLines(evaluation),
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

function sensitivityLines(evaluation: Evaluation): readonly string[] {
  const { sensitivity } = evaluation;
  if (sensitivity === null) return [];
  const cells = (baseline: Estimates, everything: Estimates): readonly string[] =>
    SENSITIVE.map(({ measure, form }) => fromTo(baseline[measure], everything[measure], form));
  const usual = cells(estimatesOf(evaluation, BASELINE.name), estimatesOf(evaluation, EVERYTHING.name));
  const rows = sensitivity.map(({ parameter, value, baseline, everything }) => [
    parameter ?? ALL_WORSE,
    String(value ?? ""),
    ...cells(baseline, everything),
  ]);
  const head = ["", "", ...SENSITIVE.map(({ short }) => short)];
  const title = "When one number of the model is another (baseline → everything):";
  return ["", title, "", ...columns([head, ["as it is", "", ...usual], ...rows])];
}

function tuningLines({ tuning }: Evaluation): readonly string[] {
  if (tuning === null) return [];
  const rows = tuning.map(({ setting, value, isDefault, estimates }) => [
    setting,
    `${value}${isDefault ? " (default)" : ""}`,
    ...TUNED.map(({ measure, form }) => inWords(estimates[measure]?.mean, form)),
  ]);
  const head = ["", "", ...TUNED.map(({ short }) => short)];
  return ["", "When one threshold is another, and everything is on:", "", ...columns([head, ...rows])];
}

const SENSITIVE = wordsFor("uiBlocked", "wasted", "uiTrulyCompleted", "falseAccepted", "honestRejected");

function historyFindingLines(findings: HistoryFindings): readonly string[] {
  const { iterations, tasks, completed, unblocked } = findings;
  return [
    `${iterations === 1 ? "1 iteration" : `${iterations} iterations`} on ${tasks === 1 ? "1 task" : `${tasks} tasks`}, ${completed} of them done.`,
    ...findings.limits.flatMap(limitLines),
    ...findings.timeouts.flatMap(timeoutLines),
    "",
    "After a mistake",
    ...findings.recoveries.flatMap(recoveryInWords).map(indented),
    ...(unblocked.tasks === 0
      ? []
      : [
          indented(
            `Blocked tasks that were let go on: ${unblocked.tasks}, and ${unblocked.completed} of them were done.`,
          ),
        ]),
    "",
    "What nobody can know from this",
    ...findings.unknown.map(indented),
  ];
}

function limitLines(finding: LimitFinding): readonly string[] {
  const rows = finding.values.map((value) => [
    String(value.value),
    savingInWords(value.saved),
    lossInWords(value),
  ]);
  const table = rows.length === 0 ? [] : columns([["value", "would have saved", "and lost"], ...rows]);
  return ["", `${finding.setting}: ${finding.what}`, ...table.map(indented), indented(limitInWords(finding))];
}

function timeoutLines(finding: TimeoutFinding): readonly string[] {
  const rows = finding.caps.map(({ seconds, saved, cutOff }) => [
    durationInWords(seconds),
    savingInWords(saved),
    cutOff === 1 ? "1 iteration with progress" : `${cutOff} iterations with progress`,
  ]);
  const table =
    rows.length === 0 ? [] : columns([["timeout", "would have saved", "and cut off"], ...rows]).map(indented);
  return ["", `Timeout of ${finding.complexity} tasks`, ...timeoutInWords(finding).map(indented), ...table];
}

function indented(line: string): string {
  return `  ${line}`;
}
