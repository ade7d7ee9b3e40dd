import { few, type Style } from "../../core/text.ts";
import { formatDuration } from "../../core/time.ts";
import { outcomeOf, whyMissing, type GateResult } from "../../core/verdict/checked-gate.ts";
import { wrap } from "./style.ts";

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
    case "skipped": {
      const isRed = onMissing === "fail";
      const allowed = isRed ? optional : ` (on_missing = ${onMissing})`;
      return [`${isRed ? style.bad("✗") : "–"} ${name} can't run: ${whyMissing(result)}${allowed}`];
    }
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
export function tailLines(output: string, style: Style, most = TAIL_LINES): readonly string[] {
  const lines = output.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.slice(-most).map((line) => style.dim(`  │ ${line}`));
}
