import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentReader } from "./agent-adapter.ts";
import type { StreamFormat } from "../../core/streams/stream-format.ts";
import { pieceIn } from "../../core/streams/stream-format.ts";
import { createOutputTap, createRedactingStream } from "./output-tap.ts";

const silent = { stdoutLine: () => {}, stderrLine: () => {} } as unknown as AgentReader;
const SECRET = "sentinel-Zx9!kq?";
const key = `-----BEGIN RSA PRIVATE KEY-----\n${`${"A1b2C3d4".repeat(8)}\n`.repeat(20)}Q==\n-----END RSA PRIVATE KEY-----`;

function redact(chunks: readonly Buffer[], secrets = [SECRET]): Buffer {
  const stream = createRedactingStream(secrets);
  return Buffer.concat([...chunks.flatMap((chunk) => stream.push(chunk)), stream.end()]);
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString();
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

describe("whatever way the bytes come", () => {
  test.each([1, 2, 3, 7, 64, 1_000, 65_536, 1_000_000])("in pieces of %i, no secret gets through", (size) => {
    const text = `start ${SECRET}\nkey ${key}\n${SECRET}${SECRET} sk-ant-${"a1B2".repeat(6)} end ${SECRET}`;
    const clean = redact(cut(Buffer.from(text), size)).toString();
    expect(clean).toBe("start [redacted]\nkey [redacted]\n[redacted][redacted] [redacted] end [redacted]");
  });

  test.each([1_000, 4_096, 65_536, 70_001])(
    "in pieces of %i, no secret in a very long line gets through",
    (size) => {
      const filler = "x ".repeat(9_999);
      const text = `${filler}${SECRET}`.repeat(20);
      const clean = redact(cut(Buffer.from(text), size)).toString();
      expect(clean).toBe(`${filler}[redacted]`.repeat(20));
    },
  );

  test("a secret that straddles two pieces of a long line is found at every position", () => {
    for (let at = 0; at <= SECRET.length; at += 1) {
      const before = Buffer.concat([Buffer.alloc(200_000, "word "), Buffer.from(SECRET.slice(0, at))]);
      const after = Buffer.from(`${SECRET.slice(at)} and on`);
      expect(redact([before, after]).includes(SECRET)).toBe(false);
    }
  });

  test("garbage comes out as it went in", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (pieces) => {
        const chunks = pieces.map((piece) => Buffer.from(piece));
        expect(redact(chunks).equals(Buffer.concat(chunks))).toBe(true);
      }),
      { seed: 20_261_115 },
    );
  });

  test("garbage beside a secret comes out as it went in", () => {
    const garbage = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const bytes = Buffer.concat([garbage, Buffer.from(SECRET), garbage]);
    const expected = Buffer.concat([garbage, Buffer.from("[redacted]"), garbage]);
    expect(redact(cut(bytes, 5)).equals(expected)).toBe(true);
  });
});

test("a secret outside ASCII is found", () => {
  expect(redact([Buffer.from("a pässwörd-漢字 b\n")], ["pässwörd-漢字"]).toString()).toBe("a [redacted] b\n");
});

test("whole lines are given out at once, an unfinished one is held", () => {
  const stream = createRedactingStream([SECRET]);
  expect(textOf(stream.push(Buffer.from("one\ntwo\nthr")))).toBe("one\ntwo\n");
  expect(textOf(stream.push(Buffer.from("ee\n")))).toBe("three\n");
  expect(stream.end().toString()).toBe("");
});

test("words about private keys are not held", () => {
  const stream = createRedactingStream([]);
  const text = 'grep "-----BEGIN PRIVATE KEY-----" file\n';
  expect(textOf(stream.push(Buffer.from(text)))).toBe('grep "[redacted]" file\n');
});

test("what it holds stays small, and 64 MB go through in well under a second of the processor", () => {
  const stream = createRedactingStream([SECRET, "another secret value"]);
  const chunk = Buffer.alloc(65_536, "the agent has a lot to say about very little\n");
  const before = process.cpuUsage();
  let given = 0;
  for (let count = 1; count <= 1_000; count += 1) {
    given += textOf(stream.push(chunk)).length;
    expect(count * chunk.length - given).toBeLessThan(100);
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test("fails when the first of two parts of a chunk cannot be written, so that nobody misses it", async () => {
  let writes = 0;
  const write = async (): Promise<void> => {
    writes += 1;
    if (writes === 1) throw new Error("the disk is full");
  };
  const tap = createOutputTap({ secrets: [], reader: silent, write, show: undefined });
  expect(tap.stdout(Buffer.from("the beginning of a line"))).toBeUndefined();
  await expect(tap.stdout(Buffer.from(" and its end\nanother line\n"))).rejects.toThrow("the disk is full");
  expect(writes).toBe(2);
});

describe("a secret in several pieces of a text", () => {
  const gemini = (content: string) => ({ type: "message", role: "assistant", delta: true, content });
  const copilot = (deltaContent: string) => ({
    type: "assistant.message_delta",
    ephemeral: true,
    data: { messageId: "m", deltaContent },
  });
  const acp = (text: string) => ({
    jsonrpc: "2.0",
    method: "session/update",
    params: {
      sessionId: "s",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
    },
  });
  const told = async (format: StreamFormat, lines: readonly object[], size: number): Promise<string> => {
    const parts: Buffer[] = [];
    const reader = { ...silent, pieceIn: (line: string) => pieceIn(format, line) };
    const write = (bytes: Buffer): Promise<void> => Promise.resolve(void parts.push(bytes));
    const tap = createOutputTap({ secrets: [SECRET], reader, write, show: undefined });
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const chunk of cut(bytes, size)) await tap.stdout(chunk);
    await tap.end();
    return textOf(parts);
  };
  const TOKEN = `ghp_${"a1B2c3D4".repeat(5)}`;

  test.each(
    Object.entries({ gemini, copilot, acp }).flatMap(([format, piece]) =>
      [1, 37, 10_000].map((size) => [format as StreamFormat, size, piece] as const),
    ),
  )("is taken out: %s, %i bytes at a time", async (format, size, piece) => {
    for (const secret of [SECRET, TOKEN, key]) {
      for (const length of [1, 5, 12]) {
        const text = `One.\nIt is ${secret}, you see.\nTwo.`;
        const pieces = text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
        const end = { type: "result", status: "success" };
        const lines = pieces.map((part): object => piece(part));
        const clean = await told(format, [...lines, end], size);
        const said = clean
          .trimEnd()
          .split("\n")
          .map((line) => pieceIn(format, line)?.text ?? "")
          .join("");
        expect(said).toBe("One.\nIt is [redacted], you see.\nTwo.");
        expect(clean.trimEnd().split("\n").at(-1)).toBe(JSON.stringify(end));
      }
    }
  });

  test("and without one every byte passes", async () => {
    const lines = [gemini("a"), gemini(" b\nc"), { type: "tool_use" }, gemini("d")];
    const whole = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    expect(await told("gemini", lines, 11)).toBe(whole);
  });
});
