import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { StreamFormat } from "../../core/streams/stream-format.ts";
import { createStreamReader } from "./stream-reader.ts";

const RECORDINGS = join(import.meta.dirname, "../../../test/recordings");

function narrated(format: StreamFormat, recording: string): string {
  let shown = "";
  const reader = createStreamReader(format, {
    prompt: "",
    promise: { completion: "COMPLETE", requireXml: true },
    show: (text) => (shown += text),
  });
  const text = readFileSync(join(RECORDINGS, format, `${recording}.jsonl`), "utf8");
  for (const line of text.split("\n")) reader.stdoutLine(line);
  return shown;
}

describe("what a person is told of an agent's stream", () => {
  test.each(["claude", "codex", "gemini", "opencode", "copilot"] as const)(
    "%s: its words and tools, one a line, and no JSON",
    (format) => {
      const lines = narrated(format, "success").split("\n");
      expect(lines.filter((line) => line.startsWith("→ ")).length).toBeGreaterThanOrEqual(2);
      expect(lines.filter((line) => line.includes("<promise>COMPLETE</promise>"))).toHaveLength(1);
      expect(lines.filter((line) => line.startsWith("{"))).toEqual([]);
    },
  );

  test.each(["claude", "codex"] as const)("%s: what went wrong", (format) => {
    expect(narrated(format, format === "claude" ? "err429-full" : "err429")).toMatch(/^✗ .*429/m);
  });
});
