import { formatDuration } from "../../core/duration.ts";
import { few } from "../../core/few.ts";
import { count, shortCommit } from "../../core/projections/explain-words.ts";
import { isVerified, type Check, type Completion } from "../../core/projections/verification.ts";
import { isoTime } from "../../core/time.ts";
import { tailLines } from "./gate-lines.ts";
import type { Style } from "./style.ts";
import { wrap } from "./wrap.ts";

/** The record of an accepted task. */
export function certificateLines(completion: Completion, style: Style): readonly string[] {
  const { task, iteration, at, commit, certificate } = completion;
  const { changed, gates, checks, warnings } = certificate;
  const where = commit === null ? "" : `, commit ${shortCommit(commit)}`;
  const since = certificate.base === null ? "" : ` since ${shortCommit(certificate.base)}`;
  const cost = certificate.costUsd === null ? "" : `, $${certificate.costUsd.toFixed(2)}`;
  const row = (name: string, text: string): readonly string[] =>
    text === "" ? [] : wrap(`  ${name.padEnd(8)}  `, text);
  return [
    style.bold(`${task} was accepted in iteration ${iteration}, ${isoTime(at).slice(0, 19)}Z${where}.`),
    ...row("claim", `${certificate.claim ?? "none was needed"}${by(certificate.agent)}`),
    ...row(
      "work",
      changed.files === 0 ? "" : `${count(changed.files, "file")}${since}: ${few(changed.paths, 10)}`,
    ),
    ...row(
      "gates",
      gates.map((gate) => `${gate.name} ${gate.status} (${formatDuration(gate.durationMs)})`).join(", "),
    ),
    ...row("checks", checks.join(", ")),
    ...row("warnings", warnings.join("; ")),
    ...row(
      "effort",
      certificate.iterations === 0 ? "" : `${count(certificate.iterations, "iteration")}${cost}`,
    ),
  ];
}

function by(agent: string): string {
  return agent === "" ? "" : `, by ${agent}`;
}

export function checkLines({ status, sentence, output }: Check, style: Style): readonly string[] {
  const marks = { well: style.good("✔"), warning: style.ask("!"), failed: style.bad("✗") } as const;
  const [first = "", ...more] = wrap("  ", sentence);
  return [
    `${marks[status]} ${first.trimStart()}`,
    ...more,
    ...(output === undefined ? [] : tailLines(output, style)),
  ];
}

export function resultLine(task: string, checks: readonly Check[], style: Style): string {
  const failed = checks.filter(({ status }) => status === "failed").length;
  return isVerified(checks)
    ? style.good(`${task} is verified.`)
    : style.bad(`${task} is not verified: ${count(failed, "check")} failed.`);
}
