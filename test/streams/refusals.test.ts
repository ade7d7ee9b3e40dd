import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { classifyStreamFailure } from "../../src/core/streams/classify-stream-failure.ts";
import { createFactRecorder } from "../../src/core/streams/stream-facts.ts";
import { STREAMS, type StreamFormat } from "../../src/core/streams/stream-format.ts";

/**
 * What services and programs say when they will not work: program, version, where the words are from (its bundle, a
 * recording, an issue), status or code and name of the error (`start`: on stderr, before any event), the words, and
 * how Ralph takes them.
 */
const ROWS = readFileSync(join(import.meta.dirname, "refusals.tsv"), "utf8")
  .replace(/\n$/, "")
  .split("\n")
  .slice(1)
  .map((line) => line.split("\t"));
const NOW = Date.parse("2026-11-15T03:00:00Z");

interface Told {
  readonly message: string;
  readonly status: number | null;
  readonly name: string | null;
}

const EVENTS: Readonly<Record<StreamFormat, (told: Told) => readonly object[]>> = {
  claude: ({ message, status, name }) => [
    {
      type: "assistant",
      error: name,
      is_api_error_message: true,
      message: { model: "<synthetic>", content: [{ type: "text", text: message }] },
    },
    {
      type: "result",
      subtype: "success",
      is_error: true,
      terminal_reason: "api_error",
      api_error_status: status,
      result: message,
    },
  ],
  codex: ({ message }) => [{ type: "turn.failed", error: { message } }],
  gemini: ({ message }) => [{ type: "result", status: "error", error: { type: "unknown", message } }],
  opencode: ({ message, status, name }) => [
    { type: "error", timestamp: NOW, error: { name, data: { message, statusCode: status } } },
  ],
  copilot: ({ message, status, name }) => [
    { type: "session.error", data: { message, statusCode: status, errorType: name } },
    { type: "result", sessionId: "s", exitCode: 1 },
  ],
  acp: ({ message, status, name }) => [
    { jsonrpc: "2.0", id: 1, error: { code: status, message, data: { errorKind: name } } },
  ],
};

test.each(ROWS)("%s %s (%s, %s): %s", (program, _, __, how = "", message = "", expected, kind, until) => {
  const format = program as StreamFormat;
  const [status, name = null] = how.split(" ");
  const told: Told = { message, status: Number.isInteger(Number(status)) ? Number(status) : null, name };
  const recorder = createFactRecorder(null);
  const events = how === "start" ? [] : EVENTS[format](told);
  for (const event of events) STREAMS[format](event as Record<string, unknown>, recorder);
  // Gemini tells its status by the exit code.
  const code = format === "gemini" && told.status !== null ? told.status % 256 : 1;
  const failure = classifyStreamFailure(
    { ending: { is: "exited", code }, facts: recorder.read(), hasEvents: events.length > 0, words: message },
    NOW,
    "UTC",
  );
  const resetsAt = failure?.resetsAt == null ? "" : new Date(failure.resetsAt).toISOString();
  expect([failure?.class, failure?.kind ?? "", resetsAt.replace(/\.\d{3}Z/, ".000Z")]).toEqual([
    expected,
    kind,
    until,
  ]);
});
