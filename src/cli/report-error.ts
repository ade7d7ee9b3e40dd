import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodeOf, RalphError } from "../core/errors.ts";
import { closest } from "../core/text.ts";
import { knownRedactor } from "../engine/secrets-seen.ts";

/** Says in a sentence what went wrong and what to do; answers the exit code. */
export function reportError(error: unknown, asJson: boolean): number {
  const { stdout, stderr } = process;
  const known = error instanceof RalphError ? error : bug(error);
  const redact = knownRedactor();
  const message = redact(known.message);
  const hint = known.hint === undefined ? null : redact(known.hint);
  if (asJson) stdout.write(`${JSON.stringify({ error: { code: known.code, message, hint } })}\n`);
  else
    // As it stands: a hint may begin with a command to type.
    stderr.write(`ralph: ${message}\n${hint === null ? "" : `  → ${hint}\n`}`);
  return exitCodeOf(known.code);
}

/** For a name that does not exist: the nearest right one, and all there are. */
export function unknownName(what: string, name: string, known: readonly string[]): RalphError {
  const meant = closest(name, known);
  const question = meant === null ? "" : `. Did you mean "${meant}"?`;
  return new RalphError("usage", `there is no ${what} "${name}"${question}`, {
    hint: `known: ${known.join(", ") || "none yet"}`,
  });
}

/** Where the report lies; without a place to write to, the report itself. */
function kept(report: string): string {
  try {
    const file = join(mkdtempSync(join(tmpdir(), "ralph-report-")), "report.txt");
    writeFileSync(file, report);
    return file;
  } catch {
    return `\n${report}`;
  }
}

function bug(error: unknown): RalphError {
  const report = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text = knownRedactor()(`${report}\nnode ${process.version} ${process.platform}\n`);
  const first = error instanceof Error ? error.message : String(error);
  return new RalphError("internal", `internal error: ${first}`, {
    hint: `this is a bug in ralph. What is recorded is safe, and the next run goes on. Report: ${kept(text)}`,
    cause: error,
  });
}
