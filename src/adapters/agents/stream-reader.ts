import type { ProgramFormat } from "../../core/agents.ts";
import type { Ending, Failure, SignalReport } from "../../core/report/agent-report.ts";
import { createEchoFilter } from "../../core/report/prompt-echo.ts";
import { createSignalReader } from "../../core/report/read-signals.ts";
import { classifyStreamFailure, isHopeless } from "../../core/report/streams/classify-stream-failure.ts";
import { fieldsOf } from "../../core/report/streams/json-fields.ts";
import { createJsonLines } from "../../core/report/streams/json-lines.ts";
import {
  createFactRecorder,
  type FactRecorder,
  type StreamFacts,
  type StreamFailure,
  type StreamTranslator,
} from "../../core/report/streams/stream-facts.ts";
import { type StreamFormat, STDERR, STREAMS } from "../../core/report/streams/stream-format.ts";
import { pieceIn } from "../../core/report/streams/text-piece.ts";
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
/** We wait for a service ourselves, where it is seen, and costs neither time nor an attempt of the task. */
const RETRYING_MAX_MS = 60_000;
const HOPELESS_MAX_MS = 10_000;

/** Follows an agent that speaks one of the structured formats. */
export function createStreamReader(format: StreamFormat, request: ReaderRequest): StreamReader {
  const reader = createTranslatedReader(STREAMS[format], request, STDERR[format]);
  return { ...reader, pieceIn: (line) => pieceIn(format, line) };
}

/** Follows an agent through anything that knows its events. */
export function createTranslatedReader(
  translate: StreamTranslator,
  request: ReaderRequest,
  stderr?: StderrReader,
): StreamReader {
  return createEventReader((recorder) => jsonEvents(translate, recorder), request, stderr);
}

type StderrReader = (line: string, facts: FactRecorder) => void;

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
  readStderr?: StderrReader,
): StreamReader {
  const facts = createFactRecorder(request.workspace ?? null);
  const recorder = request.show === undefined ? facts : narrate(facts, request.show);
  const stderr = createTextWindow(WORDS_LENGTH);
  const noise = createTextWindow(WORDS_LENGTH);
  let cutEvents = 0;
  let lastWords = "";
  const lines = linesFor(recorder);
  const retries = watchRetries(recorder);
  const analyze = (ending: Ending): StreamAnalysis => {
    lines.end();
    const facts = { ...recorder.read(), retrying: retries.givenUp() };
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
      readStderr?.(line, recorder);
      if (line.trim() !== "") lastWords = line;
    },
    activity: () => activityOf(recorder.read(), lastWords, request.costOf),
    isUnreachable: () => retries.isInVain(),
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

/** Whether it has got no further for long, asked again and again; and what it was tried again for when that was so. */
function watchRetries(recorder: FactRecorder): { isInVain(): boolean; givenUp(): StreamFailure | null } {
  let since: number | null = null;
  let givenUp: StreamFailure | null = null;
  return {
    isInVain() {
      const { retrying } = recorder.read();
      since = retrying === null ? null : (since ?? performance.now());
      if (retrying === null || since === null) return false;
      const mostMs = isHopeless(retrying) ? HOPELESS_MAX_MS : RETRYING_MAX_MS;
      givenUp = performance.now() - since >= mostMs ? retrying : null;
      return givenUp !== null;
    },
    // Ended, some say that all went well.
    givenUp: () => givenUp ?? recorder.read().retrying,
  };
}

function activityOf(facts: StreamFacts, lastWords: string, costOf: ReaderRequest["costOf"]): AgentActivity {
  const { message, toolCalls, lastTool, currentFile, filesWritten, usage } = facts;
  const lastLine = message.slice(-WORDS_LENGTH).trimEnd().split("\n").at(-1) || lastWords;
  return {
    lastLine,
    toolCalls,
    lastTool,
    currentFile,
    filesTouched: filesWritten.length,
    costUsd: costOf?.(usage, facts.model) ?? usage.costUsd,
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
