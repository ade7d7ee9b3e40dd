import type { ProgramFormat } from "../../core/agents.ts";
import type { Ending, Failure, SignalReport } from "../../core/report/agent-report.ts";
import { createEchoFilter } from "../../core/report/prompt-echo.ts";
import { createSignalReader } from "../../core/report/read-signals.ts";
import { classifyStreamFailure } from "../../core/report/streams/classify-stream-failure.ts";
import { fieldsOf } from "../../core/report/streams/json-fields.ts";
import { createJsonLines } from "../../core/report/streams/json-lines.ts";
import {
  createFactRecorder,
  type FactRecorder,
  type StreamFacts,
  type StreamTranslator,
} from "../../core/report/streams/stream-facts.ts";
import { type StreamFormat, STREAMS } from "../../core/report/streams/stream-format.ts";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import { createTextWindow } from "../../core/report/text-window.ts";
import {
  type AgentActivity,
  type AgentReader,
  type Capabilities,
  localZone,
  type ReaderRequest,
} from "./agent-adapter.ts";

interface StreamReader extends AgentReader {
  isOver(): boolean;
  /** So many messages, the prompt included, the agent says to have heard. */
  heard(): number;
  /** Called once, after the last line, instead of `result`. */
  analyze(ending: Ending): StreamAnalysis;
}

export interface StreamAnalysis {
  readonly report: SignalReport;
  readonly failure: Failure | null;
  readonly facts: StreamFacts;
  readonly unknownEvents: number;
  readonly damagedLines: number;
}

/** A tool's result is one line, with all that was read or printed in it. */
export const STREAM_LINE_BYTES_MAX = 16 * 1024 * 1024;

const CUT_EVENT = /^\s*\[?\s*\{\s*"/;
const WORDS_LENGTH = 8_000;
const FINAL_TEXT_LENGTH = 64 * 1024;

/** Follows an agent that speaks one of the structured formats. */
export function createStreamReader(format: StreamFormat, request: ReaderRequest): StreamReader {
  return createTranslatedReader(STREAMS[format], request);
}

/** Follows an agent through anything that knows its events. */
export function createTranslatedReader(translate: StreamTranslator, request: ReaderRequest): StreamReader {
  return createEventReader((recorder) => jsonEvents(translate, recorder), request);
}

/** Finds the events in lines, and tells a recorder what each of them means. */
export interface EventLines {
  readLine(line: string): void;
  end(): void;
  /** Lines that are no event. */
  damagedLines(): number;
  events(): number;
  unknownEvents(): number;
}

function jsonEvents(translate: StreamTranslator, recorder: FactRecorder): EventLines {
  let events = 0;
  let unknownEvents = 0;
  const lines = createJsonLines((json) => {
    events += 1;
    if (!translate(fieldsOf(json), recorder)) unknownEvents += 1;
  });
  return { ...lines, events: () => events, unknownEvents: () => unknownEvents };
}

/** Follows an agent through anything that finds its events. */
export function createEventReader(
  linesFor: (recorder: FactRecorder) => EventLines,
  request: ReaderRequest,
): StreamReader {
  const facts = createFactRecorder(request.workspace ?? null);
  const recorder = request.show === undefined ? facts : narrate(facts, request.show);
  const stderr = createTextWindow(WORDS_LENGTH);
  const noise = createTextWindow(WORDS_LENGTH);
  let cutEvents = 0;
  let lastWords = "";
  const lines = linesFor(recorder);
  const analyze = (ending: Ending): StreamAnalysis => {
    lines.end();
    const facts = recorder.read();
    const words = [...noise.lines(), ...stderr.lines()].map(({ text }) => text).join("\n");
    const now = (request.now ?? Date.now)();
    const zone = request.zone ?? localZone();
    const hasEvents = lines.events() + cutEvents > 0;
    const failure = classifyStreamFailure({ ending, facts, hasEvents, words }, now, zone);
    const report = readMessage(facts, request, failure);
    const unknownEvents = lines.unknownEvents();
    return { report, failure, facts, unknownEvents, damagedLines: lines.damagedLines() };
  };
  return {
    lineBytesMax: STREAM_LINE_BYTES_MAX,
    showsItself: true,
    stdoutLine(line) {
      const before = lines.damagedLines();
      lines.readLine(line);
      if (lines.damagedLines() === before) return;
      // An event that was cut off is none of its words.
      if (CUT_EVENT.test(line)) return void (cutEvents += 1);
      noise.add(line.slice(0, WORDS_LENGTH), "plain");
      lastWords = line.slice(0, WORDS_LENGTH);
    },
    stderrLine(line) {
      stderr.add(line, "plain");
      if (line.trim() !== "") lastWords = line;
    },
    activity: () => activityOf(recorder.read(), lastWords),
    isOver: () => recorder.read().isOver,
    heard: () => recorder.read().heard,
    analyze,
    result(ending) {
      const { report, failure, facts, unknownEvents } = analyze(ending);
      const { claim, promise, signals, finalText } = report;
      const { toolCalls, usage, model, sessionId, filesWritten, ranCommands, denied } = facts;
      return {
        claim,
        promise,
        signals,
        failure,
        finalText,
        toolCalls,
        usage,
        model,
        sessionId,
        filesWritten,
        // What we do not understand may be a tool.
        ranCommands: ranCommands || unknownEvents > 0,
        ...(denied.length > 0 && { denied }),
        unknownEvents,
      };
    },
  };
}

function activityOf(facts: StreamFacts, lastWords: string): AgentActivity {
  const { message, toolCalls, lastTool, currentFile, filesWritten, usage } = facts;
  const lastLine = message.slice(-WORDS_LENGTH).trimEnd().split("\n").at(-1) || lastWords;
  return {
    lastLine,
    toolCalls,
    lastTool,
    currentFile,
    filesTouched: filesWritten.length,
    costUsd: usage.costUsd,
  };
}

/** Only the final message is the agent's report; one that a tool call follows was not final. */
function readMessage(facts: StreamFacts, request: ReaderRequest, failure: Failure | null): SignalReport {
  const words = createSignalReader(request.promise, request.prompt);
  const own = createEchoFilter(request.prompt, request.promise, words);
  const isFinal = !facts.isMidWork || (facts.isOver && facts.failure === null);
  if (isFinal) for (const line of facts.message.split("\n")) own.readLine(line);
  own.end();
  const finalText = stripEscapes(facts.message.trim().slice(-FINAL_TEXT_LENGTH)).toWellFormed();
  return { ...words.report(failure), finalText };
}

/** Tells a person what an agent's stream says, as it comes: its words, its tools, what went wrong. */
function narrate(facts: FactRecorder, show: (text: string) => void): FactRecorder {
  const told = new Set<string>();
  let isLineOpen = false;
  let lastSaid = "";
  const line = (text: string): void => {
    show(`${isLineOpen ? "\n" : ""}${text}\n`);
    isLineOpen = false;
  };
  return {
    ...facts,
    says(text, messageId) {
      facts.says(text, messageId);
      // The final result repeats the last message.
      if (text.trim() !== "" && text !== lastSaid) line(text);
      lastSaid = text;
    },
    saysMore(piece, messageId) {
      facts.saysMore(piece, messageId);
      if (piece === "") return;
      show(piece);
      isLineOpen = !piece.endsWith("\n");
    },
    startsTool(tool) {
      facts.startsTool(tool);
      if (told.has(tool.id)) return;
      if (told.size < TOLD_MAX) told.add(tool.id);
      line(`→ ${[tool.name, ...(tool.files ?? [])].join(" ")}`);
    },
    denies(id, name) {
      const known = facts.read().denied;
      facts.denies(id, name);
      for (const tool of facts.read().denied) if (!known.includes(tool)) line(`✗ not permitted: ${tool}`);
    },
    fails(failure) {
      facts.fails(failure);
      line(`✗ ${failure.message}`);
    },
    ends(failure) {
      facts.ends(failure);
      if (isLineOpen) line("");
      if (failure != null) line(`✗ ${failure.message}`);
    },
  };
}

const TOLD_MAX = 10_000;

/** What its stream says of what it used; some are told the rest in another way. */
export const TELLS: Readonly<Record<ProgramFormat, Capabilities["tells"]>> = {
  claude: "cost",
  codex: "tokens",
  gemini: "tokens",
  opencode: "cost",
  copilot: "nothing",
};
