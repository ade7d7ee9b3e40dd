import { allRequiredPassed } from "../report/checked-gate.ts";
import { few } from "../few.ts";
import type { Guard } from "./guard.ts";

/** Objects when the agent's own words speak against its claim; green gates outrank words. */
export const contradiction: Guard = {
  name: "contradiction",
  intervention: "contradiction_detected",
  looksAt: "words",
  check: ({ report }) => {
    const said = report.signals?.contradictions ?? [];
    return said.length === 0 ? undefined : `the final words speak against it: ${few(said.map(quoted), 3)}`;
  },
  onlyWarns: ({ gates }) => gates !== null && allRequiredPassed(gates),
};

function quoted(sentence: string): string {
  return `"${sentence}"`;
}
