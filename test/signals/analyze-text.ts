import type { ExpectedPromise } from "../../src/core/words/read-promise.ts";
import { createSignalReader } from "../../src/core/words/read-signals.ts";
import type { SignalReport } from "../../src/core/streams/agent-report.ts";

export const EXPECTED: ExpectedPromise = { completion: "COMPLETE", requireXml: true };

export function analyzeText(text: string, expected: ExpectedPromise = EXPECTED): SignalReport {
  const reader = createSignalReader(expected);
  for (const line of text.split("\n")) reader.readLine(line);
  return reader.report(null);
}

/** A status block with these lines in it. */
export function block(...lines: string[]): string {
  return ["---RALPH_STATUS---", ...lines, "---END_RALPH_STATUS---"].join("\n");
}
