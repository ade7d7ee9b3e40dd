import type { Evidence } from "../report/evidence.ts";
import type { GuardAnswer } from "../report/plugin-answers.ts";
import type { Guard } from "./guard.ts";

/** What guards of plugins have answered, as guards: they were asked when the evidence was collected. */
export function pluginGuards({ plugins }: Evidence): readonly Guard[] {
  return (plugins?.guards ?? []).map(guardOf);
}

function guardOf({ guard: name, on, warns, advice, objections, failure }: GuardAnswer): Guard {
  return {
    name,
    intervention: "evidence_validation_failed",
    looksAt: on,
    check: () => failure ?? (objections.length === 0 ? undefined : objections.join("; ")),
    ...(advice !== null && { advice }),
    isBroken: failure !== null,
    // A warning that could not be given holds nothing up.
    onlyWarns: () => warns,
  };
}
