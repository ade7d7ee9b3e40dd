import type { CliContext } from "../commands.ts";
import { jsonPrinter, plainPrinter, quietPrinter, terminalPrinter, type RunPrinter } from "./run-printer.ts";
import { styleFor } from "./style.ts";

/** How a command shows a run: as data, not at all, to a person in front of it, or to one who reads it later. */
export function printerFor(
  flags: { readonly json?: boolean; readonly quiet?: boolean },
  { stdout, env }: CliContext,
): RunPrinter {
  const style = styleFor(stdout, env);
  if (flags.json === true) return jsonPrinter((text) => stdout.write(text));
  if (flags.quiet === true) return quietPrinter();
  return stdout.isTTY ? terminalPrinter(stdout, style) : plainPrinter((text) => stdout.write(text), style);
}
