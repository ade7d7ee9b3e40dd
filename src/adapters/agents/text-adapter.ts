import { type DemoUsage, readDemoUsage, withUsage } from "../../core/demo/demo-usage.ts";
import { UNKNOWN_USAGE } from "../../core/report/agent-report.ts";
import { classifyFailure } from "../../core/report/classify-failure.ts";
import { createEchoFilter } from "../../core/report/prompt-echo.ts";
import { lastLineOf, readPassage } from "../../core/report/read-passage.ts";
import { createSignalReader } from "../../core/report/read-signals.ts";
import type { AgentLines } from "../../core/settings.ts";
import {
  type AgentAdapter,
  type AgentCommand,
  type AgentReader,
  type Launch,
  localZone,
  type ReaderRequest,
} from "./agent-adapter.ts";
import { createEventReader, type EventLines } from "./stream-reader.ts";

/** Any program: the prompt goes in as text, and its words come out on stdout as text. */
export const textAdapter: AgentAdapter = {
  can: { resumes: false, takesMessages: false, takesMcpServers: false, tells: "nothing" },
  command: textCommand,
  createReader: createTextReader,
};

const PLACEHOLDER = /\{(prompt|prompt_file)\}/g;
const TAIL_LENGTH = 8_000;
/** Cut now and then, not at every line. */
const KEPT_LENGTH = 4 * TAIL_LENGTH;

function textCommand({ agent, prompt }: Launch, promptFile: string): AgentCommand {
  const given = agent.command ?? [];
  const fill = (_: string, name: string): string => (name === "prompt" ? prompt : promptFile);
  const command = given.map((argument) => argument.replaceAll(PLACEHOLDER, fill));
  const takesArgument = given.some((argument) => argument.search(PLACEHOLDER) >= 0);
  return { command, input: takesArgument ? null : prompt };
}

function createTextReader({ prompt, promise, now = Date.now, zone }: ReaderRequest): AgentReader {
  const words = createSignalReader(promise, prompt);
  const own = createEchoFilter(prompt, promise, words);
  const stdout = createTail();
  const stderr = createTail();
  let lastSeen = "";
  const see = (lines: string): void => {
    if (lines.trim() !== "") lastSeen = lines;
  };
  const read = (lines: string): void => {
    readPassage(lines, own);
    stdout.add(lines);
    see(lines);
  };
  return {
    stdoutLine: read,
    stdoutPassage: read,
    stderrLine(line) {
      stderr.add(line);
      see(line);
    },
    activity: () => ({
      lastLine: lastLineOf(lastSeen) ?? "",
      toolCalls: 0,
      lastTool: null,
      currentFile: null,
      filesTouched: 0,
      costUsd: null,
    }),
    result(ending) {
      own.end();
      const finalText = stdout.text().trim();
      const tail = { stderr: stderr.text(), lastLines: finalText.split("\n").slice(-10) };
      const isWell = ending.is === "exited" && ending.code === 0;
      const failure = isWell ? null : classifyFailure(ending, tail, now(), zone ?? localZone());
      const { claim, promise, signals } = words.report(failure);
      const untold = {
        toolCalls: 0,
        usage: UNKNOWN_USAGE,
        model: null,
        sessionId: null,
        filesWritten: [],
        unknownEvents: 0,
      };
      return { claim, promise, signals, failure, finalText, ...untold };
    },
  };
}

interface Tail {
  /** Any number of lines. */
  add(lines: string): void;
  /** The last whole lines, or the end of one that is very long. */
  text(): string;
}

function createTail(): Tail {
  let text = "";
  const shorten = (): void => {
    if (text.length <= TAIL_LENGTH) return;
    const end = text.slice(-TAIL_LENGTH);
    const lineStart = end.indexOf("\n") + 1;
    text = lineStart === end.length ? end : end.slice(lineStart);
  };
  return {
    add(lines) {
      const late = lines.slice(-KEPT_LENGTH);
      text = late.length < KEPT_LENGTH ? `${text}${late}\n` : `${late}\n`;
      if (text.length > KEPT_LENGTH) shorten();
    },
    text() {
      shorten();
      return text;
    },
  };
}

/** A program of the operator's own, whose output somebody else can read. */
export function linesAdapter({ createReader, tells }: AgentLines): AgentAdapter {
  return {
    ...textAdapter,
    can: { ...textAdapter.can, tells },
    createReader: (request) =>
      createEventReader((recorder) => {
        const read = createReader();
        let events = 0;
        let unknown = 0;
        const lines: EventLines = {
          readLine(line) {
            if (line.trim() === "") return;
            events += 1;
            if (!read(line, recorder)) unknown += 1;
          },
          end: () => {},
          damagedLines: () => 0,
          events: () => events,
          unknownEvents: () => unknown,
        };
        return lines;
      }, request),
  };
}

/** The built-in demo agent: plain text, it tells what it used, and it takes messages, one JSON text a line. */
export const demoAdapter: AgentAdapter = {
  can: { ...textAdapter.can, takesMessages: true, tells: "cost" },
  command(launch, promptFile) {
    const { command, input } = textAdapter.command(launch, promptFile);
    return launch.mayGetMessages ? { command: [...command, "--messages"], input: null } : { command, input };
  },
  createReader: createDemoReader,
};

function createDemoReader(request: ReaderRequest, launch: Launch): AgentReader {
  // Each line may be one about usage.
  const { stdoutPassage: _, ...words } = textAdapter.createReader(request, launch);
  const message = (text: string): string => `${JSON.stringify(text)}\n`;
  let used: DemoUsage | null = null;
  return {
    ...words,
    ...(launch.mayGetMessages && {
      converse(write) {
        void write(message(launch.prompt));
        return (text) => write(message(text));
      },
    }),
    stdoutLine(line) {
      const more = readDemoUsage(line);
      if (more === null) words.stdoutLine(line);
      else used = withUsage(used, more);
    },
    activity: () => ({ ...words.activity(), costUsd: used?.usage.costUsd ?? null }),
    result(ending) {
      const result = words.result(ending);
      return used === null ? result : { ...result, usage: used.usage, model: used.model };
    },
  };
}
