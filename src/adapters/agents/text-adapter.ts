import { type DemoUsage, readDemoUsage } from "../../core/demo/demo-usage.ts";
import { type Ending, UNKNOWN_USAGE, usageWith } from "../../core/streams/agent-report.ts";
import { classifyFailure } from "../../core/streams/classify-failure.ts";
import { createEchoFilter } from "../../core/words/prompt-echo.ts";
import { lastLineOf, readPassage } from "../../core/words/read-passage.ts";
import { createSignalReader } from "../../core/words/read-signals.ts";
import { createTextWindow } from "../../core/words/text-window.ts";
import type { AgentLines } from "../../core/settings.ts";
import {
  type AgentAdapter,
  type AgentCommand,
  type AgentReader,
  type Launch,
  localZone,
  type ReaderRequest,
} from "./agent-adapter.ts";
import { createEventReader } from "./stream-reader.ts";

/** Any program: the prompt goes in as text, and its words come out on stdout as text. */
export const textAdapter: AgentAdapter = {
  can: { resumes: false, takesMessages: false, takesMcpServers: false, tells: "nothing" },
  command: textCommand,
  createReader: createTextReader,
};

const PLACEHOLDER = /\{(prompt|prompt_file)\}/g;
const TAIL_LENGTH = 8_000;
const LAST_LINES = 10;

function textCommand({ agent, prompt }: Launch, promptFile: string): AgentCommand {
  const given = agent.command ?? [];
  const fill = (_: string, name: string): string => (name === "prompt" ? prompt : promptFile);
  const command = given.map((argument) => argument.replaceAll(PLACEHOLDER, fill));
  const takesArgument = given.some((argument) => argument.search(PLACEHOLDER) >= 0);
  return { command, input: takesArgument ? null : prompt };
}

export function createTextReader({ prompt, promise, now = Date.now, zone }: ReaderRequest) {
  const words = createSignalReader(promise, prompt);
  const own = createEchoFilter(prompt, promise, words);
  const stderr = createTextWindow(TAIL_LENGTH);
  let lastSeen = "";
  const see = (lines: string): void => {
    if (lines.trim() !== "") lastSeen = lines;
  };
  const read = (lines: string): void => {
    readPassage(lines, own);
    see(lines);
  };
  const analyze = (ending: Ending) => {
    own.end();
    const lastLines = words.report(null).finalText.split("\n").slice(-LAST_LINES);
    const errors = stderr.lines().map(({ text }) => text);
    const tail = { stderr: errors.join("\n"), lastLines };
    const isWell = ending.is === "exited" && ending.code === 0;
    // To ask for the zone takes ten milliseconds.
    const failure = isWell ? null : classifyFailure(ending, tail, now(), zone ?? localZone());
    return { report: words.report(failure), failure };
  };
  return {
    stdoutLine: read,
    stdoutPassage: read,
    stderrLine(line) {
      stderr.add(line, "plain");
      see(line);
    },
    activity: () => ({ ...NO_ACTIVITY, lastLine: lastLineOf(lastSeen) ?? "" }),
    analyze,
    result(ending) {
      const { report, failure } = analyze(ending);
      const { claim, promise, signals, finalText } = report;
      const end = finalText.slice(-TAIL_LENGTH);
      const lines = end === finalText ? end : end.slice(end.indexOf("\n") + 1);
      return { claim, promise, signals, failure, finalText: lines, ...UNTOLD };
    },
  } satisfies AgentReader & { analyze: unknown };
}

const NO_ACTIVITY = { toolCalls: 0, lastTool: null, currentFile: null, filesTouched: 0, costUsd: null };
const UNTOLD = {
  toolCalls: 0,
  usage: UNKNOWN_USAGE,
  model: null,
  sessionId: null,
  filesWritten: [],
  unknownEvents: 0,
};

/** A program of the operator's own, whose output somebody else can read. */
export function linesAdapter({ createReader, tells }: AgentLines): AgentAdapter {
  return {
    ...textAdapter,
    can: { ...textAdapter.can, tells },
    createReader(request) {
      const read = createReader();
      return createEventReader((line, facts) => (line.trim() === "" ? [] : [read(line, facts)]), request);
    },
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
  let used: DemoUsage = { usage: UNKNOWN_USAGE, model: null };
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
      else used = { usage: usageWith(used.usage, more.usage), model: more.model ?? used.model };
    },
    activity: () => ({ ...words.activity(), costUsd: used.usage.costUsd }),
    result: (ending) => ({ ...words.result(ending), ...used }),
  };
}
