import { estimatesOf, type Evaluation } from "../../eval/evaluation.ts";
import type { Estimates } from "../../eval/evaluate.ts";
import { BASELINE, EVERYTHING, FEATURES } from "../../eval/features.ts";
import {
  ALL_WORSE,
  fromTo,
  inWords,
  MEASURE_WORDS,
  withInterval,
  TUNED,
  wordsFor,
  type MeasureWords,
} from "../../eval/measure-words.ts";
import { PRODUCTION } from "../../eval/parameters.ts";
import { isMet, PRODUCTION_MEASURES, TARGETS, type Target } from "../../eval/targets.ts";
import { columns } from "./columns.ts";

/** The first of these have room for their interval. */
const WITH_INTERVAL = 3;

export function evalLines(evaluation: Evaluation): readonly string[] {
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
  const form: MeasureWords["form"] = wanted.is === "none" ? "count" : "percent";
  const met = isMet(target, everything);
  const unit = wanted.is === "none" || met === null ? "" : " %";
  const value = inWords(everything[measure]?.mean, form);
  const goal = wanted.is === "none" ? "none" : `${wanted.is} ${inWords(wanted.value, form)} %`;
  return [met === null ? "–" : met ? "✔" : "✗", name, `${value}${unit}`, `(target: ${goal})`];
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
