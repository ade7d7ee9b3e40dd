import type { GateSettings } from "../settings.ts";
import type { Guard } from "./guard.ts";

/** Rejects a tester's promise when no test has passed: by the project's own gates, or in its words where it has none. */
export const passingTests: Guard = {
  name: "passing-tests",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check({ stage, settings, gates, report }) {
    if (stage !== "tester") return undefined;
    const tests = settings.gates.filter(runsTests).map(({ name }) => name);
    if (tests.length === 0)
      return saysPassing(report.finalText, report.signals?.testsStatus ?? null)
        ? undefined
        : "nothing says that tests pass, and the project has no gate for its tests";
    const passed = (gates ?? []).some(({ name, status }) => tests.includes(name) && status === "passed");
    return passed ? undefined : `no test gate has passed (${tests.join(", ")})`;
  },
};

export function runsTests({ name, kind }: Pick<GateSettings, "name" | "kind">): boolean {
  return kind === "test" || /test/i.test(name);
}

const PASSING =
  /\b(?:all |[1-9]\d* )?(?:unit |integration )?tests? (?:are |is |all |now )?(?:pass(?:ed|es|ing)?|green)\b|\b[1-9]\d* pass(?:ed|ing)\b/i;

function saysPassing(words: string, status: string | null): boolean {
  return status === "PASSING" || (status === null && PASSING.test(words));
}
