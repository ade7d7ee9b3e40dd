import {
  durationInWords,
  limitInWords,
  lossInWords,
  recoveryInWords,
  savingInWords,
  timeoutInWords,
} from "../../eval/history/finding-words.ts";
import type { HistoryFindings } from "../../eval/history/history-findings.ts";
import type { LimitFinding } from "../../eval/history/limit-findings.ts";
import type { TimeoutFinding } from "../../eval/history/timeout-findings.ts";
import { columns } from "./columns.ts";

export function historyFindingLines(findings: HistoryFindings): readonly string[] {
  const { iterations, tasks, completed, unblocked } = findings;
  return [
    `${iterations === 1 ? "1 iteration" : `${iterations} iterations`} on ${tasks === 1 ? "1 task" : `${tasks} tasks`}, ${completed} of them done.`,
    ...findings.limits.flatMap(limitLines),
    ...findings.timeouts.flatMap(timeoutLines),
    "",
    "After a mistake",
    ...findings.recoveries.flatMap(recoveryInWords).map(indented),
    ...(unblocked.tasks === 0
      ? []
      : [
          indented(
            `Blocked tasks that were let go on: ${unblocked.tasks}, and ${unblocked.completed} of them were done.`,
          ),
        ]),
    "",
    "What nobody can know from this",
    ...findings.unknown.map(indented),
  ];
}

function limitLines(finding: LimitFinding): readonly string[] {
  const rows = finding.values.map((value) => [
    String(value.value),
    savingInWords(value.saved),
    lossInWords(value),
  ]);
  const table = rows.length === 0 ? [] : columns([["value", "would have saved", "and lost"], ...rows]);
  return ["", `${finding.setting}: ${finding.what}`, ...table.map(indented), indented(limitInWords(finding))];
}

function timeoutLines(finding: TimeoutFinding): readonly string[] {
  const rows = finding.caps.map(({ seconds, saved, cutOff }) => [
    durationInWords(seconds),
    savingInWords(saved),
    cutOff === 1 ? "1 iteration with progress" : `${cutOff} iterations with progress`,
  ]);
  const table =
    rows.length === 0 ? [] : columns([["timeout", "would have saved", "and cut off"], ...rows]).map(indented);
  return ["", `Timeout of ${finding.complexity} tasks`, ...timeoutInWords(finding).map(indented), ...table];
}

function indented(line: string): string {
  return `  ${line}`;
}
