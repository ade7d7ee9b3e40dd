import type { ProgramFormat } from "../../core/agents.ts";
import type { AgentSettings } from "../../core/settings.ts";
import type { Ending, Failure, SignalReport } from "../../core/streams/agent-report.ts";
import { createEchoFilter } from "../../core/words/prompt-echo.ts";
import { createSignalReader } from "../../core/words/read-signals.ts";
import { classifyStreamFailure, isHopeless } from "../../core/streams/classify-stream-failure.ts";
import { readJsonLine } from "../../core/streams/json-fields.ts";
import {
  createFactRecorder,
  type FactRecorder,
  type StreamFacts,
  type StreamFailure,
  type StreamTranslator,
} from "../../core/streams/stream-facts.ts";
import { pieceIn, type StreamFormat, STDERR, STREAMS } from "../../core/streams/stream-format.ts";
import { isCutEvent, recordEntries } from "../../core/views/transcript.ts";
import { createEntryPrinter } from "../../core/views/transcript-lines.ts";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import { createTextWindow } from "../../core/words/text-window.ts";
import {
  type AgentActivity,
  type AgentReader,
  type Capabilities,
  type Launch,
  localZone,
  type ReaderRequest,
} from "./agent-adapter.ts";
import { programBelongings } from "./programs/program-belongings.ts";

export interface StreamAnalysis {
  readonly report: SignalReport;
  readonly failure: Failure | null;
  readonly facts: StreamFacts;
  readonly unknownEvents: number;
  readonly damagedLines: number;
}

/** A tool's result is one line, with all that was read or printed in it. */
export const STREAM_LINE_BYTES_MAX = 16 * 1024 * 1024;

const WORDS_LENGTH = 8_000;
const FINAL_TEXT_LENGTH = 64 * 1024;
/** We wait for a service ourselves, where it is seen, and costs neither time nor an attempt of the task. */
const RETRYING_MAX_MS = 60_000;
const HOPELESS_MAX_MS = 10_000;

/** Reads one line: of each event in it, whether it is known; null when the line is no event. */
export type ReadEvents = (line: string, facts: FactRecorder) => readonly boolean[] | null;

/** Follows an agent that speaks one of the structured formats. */
export function createStreamReader(format: StreamFormat, request: ReaderRequest) {
  const reader = createEventReader(jsonEvents(STREAMS[format]), request, STDERR[format]);
  return { ...reader, pieceIn: (line: string) => pieceIn(format, line) };
}

export function jsonEvents(translate: StreamTranslator): ReadEvents {
  return (line, facts) => readJsonLine(line)?.map((event) => translate(event, facts)) ?? null;
}

/** Follows an agent through anything that finds its events. */
export function createEventReader(
  readEvents: ReadEvents,
  request: ReaderRequest,
  readStderr?: (line: string, facts: FactRecorder) => void,
) {
  const { recorder, update, end } = narrated(request);
  const stderr = createTextWindow(WORDS_LENGTH);
  const noise = createTextWindow(WORDS_LENGTH);
  let hasEvents = false;
  let unknownEvents = 0;
  let damagedLines = 0;
  let lastWords = "";
  const retries = watchRetries(recorder);
  const analyze = (ending: Ending): StreamAnalysis => {
    end();
    const facts = { ...recorder.read(), retrying: retries.givenUp() };
    const words = [...noise.lines(), ...stderr.lines()].map(({ text }) => text).join("\n");
    const now = (request.now ?? Date.now)();
    const zone = request.zone ?? localZone();
    const failure = classifyStreamFailure({ ending, facts, hasEvents, words }, now, zone);
    return { report: readMessage(facts, request, failure), failure, facts, unknownEvents, damagedLines };
  };
  return {
    lineBytesMax: STREAM_LINE_BYTES_MAX,
    showsItself: true,
    stdoutLine(line) {
      const events = readEvents(line, recorder);
      // An event that was cut off is none of its words.
      hasEvents ||= (events?.length ?? 0) > 0 || (events === null && isCutEvent(line));
      unknownEvents += events?.filter((isKnown) => !isKnown).length ?? 0;
      update();
      if (events !== null) return;
      damagedLines += 1;
      if (isCutEvent(line)) return;
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
    /** So many messages, the prompt included, the agent says to have heard. */
    heard: () => recorder.read().heard,
    /** Called once, after the last line, instead of `result`. */
    analyze,
    result(ending) {
      const { report, failure, facts, unknownEvents } = analyze(ending);
      const { promiseMatches: _, ...said } = report;
      const { toolCalls, usage, model, sessionId, filesWritten, denied } = facts;
      return {
        ...said,
        failure,
        toolCalls,
        usage,
        model,
        sessionId,
        filesWritten,
        unknownEvents,
        // What we do not understand may be a tool.
        ranCommands: facts.ranCommands || unknownEvents > 0,
        ...(denied.length > 0 && { denied }),
      };
    },
  } satisfies AgentReader & Record<"heard" | "analyze", unknown>;
}

interface Narrated {
  readonly recorder: FactRecorder;
  /** After each line. */
  readonly update: () => void;
  readonly end: () => void;
}

/** Shows a person, if one watches, what an agent's stream tells, as it comes. */
function narrated({ workspace, show }: ReaderRequest): Narrated {
  const facts = createFactRecorder(workspace ?? null);
  if (show === undefined) return { recorder: facts, update() {}, end() {} };
  const printer = createEntryPrinter(show, {});
  const entries = recordEntries(facts, {
    onEntry: (entry) => printer.entry(entry),
    workspace: workspace ?? null,
  });
  return {
    recorder: entries,
    update() {
      const [head] = entries.open();
      // Lines of several agents stand below each other: a call is shown when its line is whole.
      if (head?.kind === "text") printer.head(head);
    },
    end: () => entries.end(),
  };
}

/** Tells whether it has got no further for long, and what it was tried again for when that was so. */
function watchRetries(recorder: FactRecorder) {
  let since: number | null = null;
  let givenUp: StreamFailure | null = null;
  return {
    /** Asked again and again. */
    isInVain(): boolean {
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

/** What its stream says of what it used; some are told the rest in another way. */
const TELLS: Readonly<Record<ProgramFormat, Capabilities["tells"]>> = {
  claude: "cost",
  codex: "tokens",
  gemini: "tokens",
  opencode: "cost",
  copilot: "nothing",
};

/** What most programs have in common that speak a known stream. */
export function streamAdapter(format: ProgramFormat) {
  return {
    can: { resumes: true, takesMessages: false, takesMcpServers: true, tells: TELLS[format] },
    belongings: (_: AgentSettings, env: Launch["env"]) => programBelongings(format, env),
    createReader: (request: ReaderRequest) => createStreamReader(format, request),
  };
}
