import { formatDuration } from "../../core/duration.ts";
import { few } from "../../core/few.ts";
import { outcomeOf } from "../../core/report/checked-gate.ts";
import type { GateResult } from "../../core/report/gate-result.ts";
import type { Style } from "./style.ts";
import { wrap } from "./wrap.ts";

const TAIL_LINES = 20;

/** How one gate ended; of a failing one also the end of its output. */
export function gateLines(result: GateResult, style: Style): readonly string[] {
  const { name, status, required, onMissing } = result;
  const time = formatDuration(result.durationMs);
  const tries = result.tries > 1 ? `, ${result.tries} tries` : "";
  const optional = required ? "" : " (not required)";
  switch (status) {
    case "passed":
      return [`${style.good("✔")} ${name} passed ${time}${tries}`];
    case "missing":
      return [
        `${onMissing === "fail" ? style.bad("✗") : "–"} ${name} missing (on_missing = ${onMissing})${optional}`,
      ];
    case "skipped":
      return [`– ${name} skipped: what it runs is not installed (on_missing = skip)`];
    case "timeout":
      return [`${style.bad("✗")} ${name} timed out ${time}${tries}${optional}`, ...endOf(result, style)];
    case "failed": {
      const why = result.unmet ?? `exit ${result.exitCode ?? "unknown"}`;
      return [`${style.bad("✗")} ${name} failed ${why} ${time}${tries}${optional}`, ...endOf(result, style)];
    }
  }
}

function endOf(result: GateResult, style: Style): readonly string[] {
  const { failures } = outcomeOf(result);
  const names = failures.length === 0 ? [] : wrap("  failing: ", few(failures, 10));
  return [...names, ...tailLines(result.tail, style)];
}

/** The last lines of an output, set apart from ours. */
export function tailLines(output: string, style: Style): readonly string[] {
  const lines = output.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.slice(-TAIL_LINES).map((line) => style.dim(`  │ ${line}`));
}
