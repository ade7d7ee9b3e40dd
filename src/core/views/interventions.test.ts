import { describe, expect, test } from "vitest";
import {
  archiveName,
  interventionEntry,
  interventionsDocument,
  isRotated,
  type RecordedIntervention,
} from "./interventions.ts";

const EVENT: RecordedIntervention = {
  type: "intervention.chosen",
  position: 7,
  at: Date.UTC(2026, 0, 31, 23, 59, 59),
  run: "run-1",
  task: "one",
  iteration: 3,
  agent: "claude",
  intervention: "gate_failed",
  severity: "warning",
  rule: "gate:tests",
  feedback: { iteration: 3, text: "the gate is red", output: "1 failed" },
  details: { returnCode: null, claimedCompletion: true, filesWritten: 2, evidenceCount: 1 },
  isFedBack: false,
  leads: false,
};

describe("events.json", () => {
  test("has the agreed keys in every entry", () => {
    expect(interventionEntry(EVENT)).toEqual({
      iteration: 3,
      event_type: "gate_failed",
      timestamp: "2026-01-31T23:59:59.000Z",
      severity: "warning",
      details: {
        task_id: "one",
        agent: "claude",
        agent_return_code: null,
        exit_signal_claimed: true,
        files_written: 2,
        evidence_count: 1,
      },
      remediation_attempted: false,
      rule: "gate:tests",
      message: "the gate is red",
    });
  });

  test.each([[[]], [[{ a: 1 }]], [[{ a: 1 }, { b: "]}" }]]])("holds %j", (entries) => {
    const text = interventionsDocument(entries.map((entry) => JSON.stringify(entry)));
    expect(JSON.parse(text)).toEqual({ $schema: "ralph_gold.interventions.v1", events: entries });
  });

  test("keeps an event for exactly so many days; then it goes to the archive of its month", () => {
    const day = 86_400_000;
    expect(isRotated(EVENT.at, EVENT.at + 30 * day, 30)).toBe(false);
    expect(isRotated(EVENT.at, EVENT.at + 30 * day + 1, 30)).toBe(true);
    expect(archiveName(EVENT.at)).toBe("events-2026-01.json.gz");
    expect(archiveName(EVENT.at + 1_000)).toBe("events-2026-02.json.gz");
  });
});
