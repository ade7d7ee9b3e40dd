import type { Command } from "commander";
import { gatesOf, openProject } from "../../compose.ts";
import { compareWithBaseline, outcomeOf, redGates } from "../../core/report/checked-gate.ts";
import type { GateResult } from "../../core/report/gate-result.ts";
import type { GateSettings } from "../../core/settings.ts";
import { checkNow, INTERRUPTED } from "../check-now.ts";
import type { Act, CliContext } from "../commands.ts";
import { gateLines } from "../print/gate-lines.ts";
import { styleFor } from "../print/style.ts";
import { projectGates } from "../project-gates.ts";

interface Flags {
  readonly check?: readonly string[];
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--check <command>", "another gate (repeatable)", collect)
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => gates(flags, context)));
}

async function gates(flags: Flags, context: CliContext): Promise<number> {
  const { stdout } = context;
  const project = await openProject(context);
  const found = await projectGates(project, flags.check ?? [], context);
  const configured = found.gates;
  const asJson = flags.json === true;
  if (configured.length === 0 && !asJson) {
    stdout.write(HOW_TO_ADD_ONE);
    return 0;
  }
  const style = styleFor(stdout, context.env);
  const { redact } = await gatesOf(project, context.env, configured);
  const results = await checkNow(project, found, context, (result) => {
    if (!asJson) for (const line of gateLines(result, style)) stdout.write(`${redact(line)}\n`);
  });
  if (results === null) return INTERRUPTED;
  if (asJson) stdout.write(`${JSON.stringify(rows(configured, results, redact), null, 2)}\n`);
  return redGates(compareWithBaseline(results, configured, null)).length === 0 ? 0 : 1;
}

const HOW_TO_ADD_ONE = `No gate is configured: only git is checked. Add one to .ralph/ralph.toml:
  [[gates]]
  name = "tests"
  command = "npm test"
Or try one first: ralph gates --check "npm test"
`;

function rows(
  gates: readonly GateSettings[],
  results: readonly GateResult[],
  redact: (text: string) => string,
): readonly object[] {
  return results.map((result, at) => ({
    name: redact(result.name),
    command: redact(gates[at]?.command ?? ""),
    kind: gates[at]?.kind ?? null,
    required: result.required,
    status: result.status,
    exit_code: result.exitCode,
    duration_seconds: result.durationMs / 1_000,
    tries: result.tries,
    failures: outcomeOf(result).failures,
    tail: result.tail,
  }));
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
