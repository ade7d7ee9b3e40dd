import type { ProgramFormat } from "../../known-programs.ts";
import { isAcpMessage, readAcpMessage } from "./acp-stream.ts";
import { readClaudeEvent } from "./claude-stream.ts";
import { readCodexEvent } from "./codex-stream.ts";
import { readCopilotEvent } from "./copilot-stream.ts";
import { readGeminiEvent } from "./gemini-stream.ts";
import { isFields, type Fields } from "./json-fields.ts";
import { readOpencodeEvent } from "./opencode-stream.ts";
import type { StreamTranslator } from "./stream-facts.ts";

export type StreamFormat = ProgramFormat | "acp";

export const STREAMS: Readonly<Record<StreamFormat, StreamTranslator>> = {
  claude: readClaudeEvent,
  codex: readCodexEvent,
  gemini: readGeminiEvent,
  opencode: readOpencodeEvent,
  copilot: readCopilotEvent,
  acp: readAcpMessage,
};

export function isStreamFormat(name: string): name is StreamFormat {
  return Object.hasOwn(STREAMS, name);
}

/** Whose event it is, judged by what only that format has; null when nobody's. */
export function formatOf(json: unknown): StreamFormat | null {
  if (!isFields(json)) return null;
  if (isAcpMessage(json)) return "acp";
  if (typeof json["type"] !== "string") return null;
  return MARKS.find(([, isMark]) => isMark(json, String(json["type"])))?.[0] ?? null;
}

const has = (event: Fields, ...names: readonly string[]): boolean =>
  names.every((name) => Object.hasOwn(event, name));

const MARKS: readonly (readonly [StreamFormat, (event: Fields, type: string) => boolean])[] = [
  [
    "claude",
    (event, type) =>
      has(event, "session_id") &&
      ((type === "system" && has(event, "subtype")) ||
        (/^(?:assistant|user)$/.test(type) && isFields(event["message"])) ||
        (type === "result" && has(event, "is_error")) ||
        type === "rate_limit_event"),
  ],
  [
    "codex",
    (_, type) =>
      /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/.test(
        type,
      ),
  ],
  [
    "gemini",
    (event, type) =>
      has(event, "timestamp") &&
      ((type === "init" && has(event, "session_id", "model")) ||
        (type === "message" && has(event, "role", "content")) ||
        (type === "tool_use" && has(event, "tool_name", "tool_id")) ||
        (type === "result" && has(event, "status", "stats"))),
  ],
  [
    "opencode",
    (event, type) =>
      has(event, "sessionID") && /^(?:step_start|step_finish|text|tool_use|reasoning|error)$/.test(type),
  ],
  [
    "copilot",
    (event, type) =>
      (/^(?:session|assistant|user|tool|model)\.\w+$/.test(type) &&
        isFields(event["data"]) &&
        has(event, "id")) ||
      (type === "result" && has(event, "sessionId", "exitCode")),
  ],
];
