import type { IterationDetails } from "../../core/projections/explain-details.ts";
import type { RunExplanation } from "../../core/projections/explain-run.ts";
import type { TaskExplanation } from "../../core/projections/explain-task.ts";
import type { Style } from "./style.ts";
import { wrap } from "./wrap.ts";

export function runLines({ headline, tasks, next }: RunExplanation, style: Style): readonly string[] {
  return [
    ...bold(wrap("", headline), style),
    ...tasks.flatMap((task) => [...wrap("  ", task.text), ...nextLines(task.next, "    ", style)]),
    ...nextLines(next, "", style),
  ];
}

export function taskLines(explanation: TaskExplanation, style: Style): readonly string[] {
  const { headline, steps, next } = explanation;
  const numbers = steps.map(({ story }) => String(story?.record.iteration ?? "–"));
  const width = Math.max(1, ...numbers.map((number) => number.length));
  const isCertificate = next !== null && next.startsWith("ralph verify");
  return [
    ...bold(wrap("", headline), style),
    ...steps.flatMap(({ text }, at) => wrap(`  ${(numbers[at] ?? "").padStart(width)}  `, text)),
    ...(isCertificate ? [`Certificate: ${next}`] : nextLines(next, "", style)),
  ];
}

export function iterationLines(
  { headline, groups }: IterationDetails,
  iteration: number,
  style: Style,
): readonly string[] {
  const width = Math.max(0, ...groups.map(({ about }) => about.length));
  return [
    ...bold(wrap("", headline), style),
    ...groups.flatMap(({ about, sentences }) =>
      sentences.flatMap((sentence, at) => wrap(`  ${(at === 0 ? about : "").padEnd(width)}  `, sentence)),
    ),
    `Transcript: ralph logs ${iteration}`,
  ];
}

function nextLines(next: string | null, indent: string, style: Style): readonly string[] {
  return next === null ? [] : [style.ask(`${indent}→ ${next}`)];
}

function bold(lines: readonly string[], style: Style): readonly string[] {
  return lines.map((line) => style.bold(line));
}
