import { redGates } from "../report/checked-gate.ts";
import type { ExitAnswer } from "../report/plugin-answers.ts";
import { wasCutOff, type Judgement } from "./judge-iteration.ts";

/** How exit rules of plugins end an open-ended task, as far as evidence allows it. */
export function pluginExit({ context, gates, findings }: Judgement): ExitAnswer | null {
  const { report, settings, evidence } = context;
  const { exits = [] } = evidence.plugins ?? {};
  if (wasCutOff(report) || report.failure !== null) return null;
  const isChecked = gates !== null || settings.gates.length === 0;
  const isGreen = isChecked && redGates(gates ?? []).length === 0;
  const isRight = isGreen && findings.every(({ rejects }) => !rejects);
  return exits.find(({ ends }) => ends === "failed" || isRight) ?? null;
}
