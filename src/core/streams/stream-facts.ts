import type { Instant } from "../time.ts";
import { UNKNOWN_USAGE, type FailureKind, type Usage, usageWith, usageWithout } from "./agent-report.ts";
import { stripEscapes } from "../words/strip-escapes.ts";
import type { Fields } from "./json-fields.ts";

/** What every structured format tells, once it is translated. */
export interface StreamFacts {
  readonly sessionId: string | null;
  readonly model: string | null;
  /** The last assistant message, of a very long one its end. */
  readonly message: string;
  /** A tool was called after that message, or with it: there was more to come. */
  readonly isMidWork: boolean;
  /** Started, whether or not they went well. */
  readonly toolCalls: number;
  readonly lastTool: string | null;
  readonly currentFile: string | null;
  /** Unique, without denied and failed writes; relative where inside the workspace. */
  readonly filesWritten: readonly string[];
  /** It may have written files that it does not tell. */
  readonly ranCommands: boolean;
  /** It has started something that goes on in the background. */
  readonly leftRunning: boolean;
  /** Tools that it was not permitted to use. */
  readonly denied: readonly string[];
  readonly deniedCalls: number;
  readonly usage: Usage;
  /** Of what was said to it, the prompt included, so many it has told us to have heard. */
  readonly heard: number;
  /** The final result was given, good or bad. */
  readonly isOver: boolean;
  readonly failure: StreamFailure | null;
  /** It tries again by itself after this error, and has got no further since. */
  readonly retrying: StreamFailure | null;
  /** It was told of an error, though it may have got over it. */
  readonly hadErrors: boolean;
  /** It has no tool at work: it is its model's turn. */
  readonly isWaiting: boolean;
}

/** An error as the stream tells it. */
export interface StreamFailure {
  /** Of HTTP. */
  readonly status: number | null;
  /** The service's or the program's own name for it. */
  readonly kind: string | null;
  readonly message: string;
  readonly what: FailureKind | null;
  /** The agent ended itself or was interrupted: a cap of its own, a denial. No service had a part in it. */
  readonly isOwn: boolean;
  /** When a limit ends, as a field says it. */
  readonly resetsAt: Instant | null;
  /** Where else to look for that time, the best first. */
  readonly resetTexts: readonly string[];
  /** When it happened, if the event says so: "in 2 s" counts from here. */
  readonly at: Instant | null;
}

/** Reads one event of a format; false when it does not know it. */
export type StreamTranslator = (event: Fields, facts: FactRecorder) => boolean;

export interface FactRecorder {
  session(id: string | null): void;
  model(name: string | null): void;
  workspace(folder: string | null): void;
  /** With the id of the message before it goes on with that one. */
  says(text: string, messageId?: string | null): void;
  /** The next piece of the message, with nothing between; of another one when there is work between, or its id differs. */
  saysMore(piece: string, messageId?: string | null): void;
  /** What was said so far was not the last word. */
  worksOn(): void;
  /** When the events that follow happened; null when nobody says. */
  happens(at: Instant | null): void;
  /** Thoughts count for nothing; a piece goes on with the one before. */
  thinks(text: string, isPiece?: boolean): void;
  /** The same id twice is one call. Its files count when it ends well. */
  startsTool(tool: ToolCall): void;
  /** Files of a call that has started, told later. */
  toolWrites(id: string, files: readonly string[]): void;
  /** What a call does, or what came of it, told later. */
  showsTool(id: string, more: Pick<ToolCall, "title" | "input" | "result">): void;
  endsTool(id: string, isGood: boolean, result?: unknown): void;
  /** A call that has not ended yet was not permitted. Without a name it is that of the call. */
  denies(id: string, name?: string): void;
  writes(paths: readonly string[]): void;
  /** A message of ours has reached it. */
  hears(): void;
  /** Replaces what was known. */
  uses(usage: Usage): void;
  usesMore(usage: Usage): void;
  /** What one answer of the model has used so far; gone when what all of them used is told. */
  usesMeanwhile(id: string, usage: Usage): void;
  ends(failure?: StreamFailure | null): void;
  /** Another turn begins after a final result. */
  goesOn(): void;
  /** An error that may yet be the last word. */
  fails(failure: StreamFailure): void;
  retries(failure: StreamFailure): void;
  /** A step in which tools may be at work that it does not tell of. */
  steps(isOpen: boolean): void;
  recovers(): void;
  read(): StreamFacts;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly files?: readonly string[];
  readonly inBackground?: boolean;
  /** For people only: how the program itself names the call, what it was given, and what came of it. */
  readonly title?: string | null;
  readonly input?: unknown;
  readonly result?: unknown;
  /** An agent of the agent's own makes it. */
  readonly isNested?: boolean;
}

/** Tools of Claude, Gemini and opencode that write nothing, or just the files that they name. */
const TELLING: ReadonlySet<string> = new Set(
  `Read Glob Grep LS TodoWrite WebFetch WebSearch ToolSearch Write Edit MultiEdit NotebookEdit
   read_file read_many_files list_directory glob search_file_content grep_search
   google_web_search web_fetch write_todos write_file replace
   read list grep webfetch todoread todowrite write edit multiedit`.split(/\s+/),
);

const MESSAGE_LENGTH_MAX = 1024 * 1024;
const CALLS_OPEN_MAX = 10_000;
const FILES_MAX = 10_000;
const WORKSPACES_MAX = 10;
const DENIED_MAX = 20;
const NAME_LENGTH_MAX = 100;

/** Collects the facts of one stream in bounded memory. */
export function createFactRecorder(workspace: string | null): FactRecorder {
  const workspaces: string[] = workspace === null ? [] : [workspace];
  const open = new Map<string, ToolCall>();
  const files = new Set<string>();
  let isInStep = false;
  let facts: StreamFacts = NOTHING;
  let relative: readonly string[] | null = null;
  let speaking: string | null = null;
  const set: Set = (more) => {
    facts = { ...facts, ...more };
  };
  const usage = usageMeter(() => facts.usage, set);
  const speak = (message: string): void => set({ message: endOf(message), isMidWork: false, retrying: null });
  const addFiles = (paths: readonly string[]): void => {
    for (const path of paths) if (files.size < FILES_MAX) files.add(path);
    relative = null;
  };
  return {
    session: (id) => id !== null && set({ sessionId: id }),
    model: (name) => name !== null && set({ model: name }),
    workspace(folder) {
      if (folder === null || workspaces.includes(folder) || workspaces.length === WORKSPACES_MAX) return;
      workspaces.push(folder);
      relative = null;
    },
    says(text, messageId = null) {
      const goesOn = messageId !== null && messageId === speaking && facts.message !== "";
      speaking = messageId;
      speak(goesOn ? `${facts.message}\n${text}` : text);
    },
    saysMore(piece, messageId = null) {
      const goesOn = messageId === null || speaking === null ? !facts.isMidWork : messageId === speaking;
      speaking = messageId;
      speak(goesOn ? facts.message + piece : piece);
    },
    worksOn: () => set({ isMidWork: true }),
    ...FOR_PEOPLE_ONLY,
    startsTool(tool) {
      if (open.has(tool.id)) return;
      // Its input may be long, and is for people only.
      const { id, name, files } = tool;
      if (open.size < CALLS_OPEN_MAX) open.set(id, { id, name, ...(files && { files }) });
      set(withTool(facts, tool));
    },
    toolWrites(id, more) {
      const tool = open.get(id);
      if (tool === undefined || more.length === 0) return;
      open.set(id, { ...tool, files: [...new Set([...(tool.files ?? []), ...more])].slice(0, FILES_MAX) });
      set({ currentFile: more.at(-1) ?? null });
    },
    endsTool(id, isGood) {
      if (isGood) addFiles(open.get(id)?.files ?? []);
      open.delete(id);
    },
    denies: (id, name = open.get(id)?.name ?? "a tool") => set(withDenial(facts, name)),
    writes: addFiles,
    hears: () => set({ heard: facts.heard + 1 }),
    ...usage,
    ...endings(set, () => denialIn(facts, files.size > 0)),
    steps: (isOpen) => void (isInStep = isOpen),
    read: () => ({
      ...facts,
      usage: usage.spent(),
      isWaiting: open.size === 0 && !isInStep && !facts.isOver,
      ranCommands: facts.ranCommands || [...open.values()].some(writes),
      currentFile: facts.currentFile && relativeTo(workspaces, facts.currentFile),
      filesWritten: (relative ??= [...new Set([...files].map((path) => relativeTo(workspaces, path)))]),
    }),
  };
}

const FOR_PEOPLE_ONLY = { happens() {}, thinks() {}, showsTool() {} };

type Set = (more: Partial<StreamFacts>) => void;

function endings(
  set: Set,
  denial: () => StreamFailure | null,
): Pick<FactRecorder, "ends" | "goesOn" | "fails" | "retries" | "recovers"> {
  return {
    ends: (failure = null) => set({ isOver: true, failure: failure ?? denial(), retrying: null }),
    goesOn: () => set({ isOver: false, failure: null }),
    fails: (failure) => set({ failure, hadErrors: true }),
    retries: (failure) => set({ retrying: failure }),
    recovers: () => set({ failure: null, retrying: null }),
  };
}

/** What was told for good, and what single answers have used since. */
function usageMeter(
  told: () => Usage,
  set: Set,
): Pick<FactRecorder, "uses" | "usesMore" | "usesMeanwhile"> & { spent(): Usage } {
  const answers = new Map<string, Usage>();
  let sum = UNKNOWN_USAGE;
  const settle = (usage: Usage): void => {
    answers.clear();
    sum = UNKNOWN_USAGE;
    set({ usage });
  };
  return {
    uses: (usage) => settle(withoutNonsense(usage)),
    usesMore: (usage) => settle(usageWith(told(), withoutNonsense(usage))),
    usesMeanwhile(id, usage) {
      const before = answers.get(id);
      if (before === undefined && answers.size === CALLS_OPEN_MAX) return;
      answers.set(id, usage);
      sum = usageWith(before === undefined ? sum : usageWithout(sum, before), usage);
    },
    spent: () => usageWith(told(), sum),
  };
}

function withTool(
  { toolCalls, ranCommands, leftRunning }: StreamFacts,
  { name, files, inBackground = false }: ToolCall,
): Partial<StreamFacts> {
  return {
    leftRunning: leftRunning || inBackground,
    toolCalls: toolCalls + 1,
    lastTool: name,
    currentFile: files?.at(-1) ?? null,
    isMidWork: true,
    retrying: null,
    ranCommands: ranCommands || !TELLING.has(name),
  };
}

/** What is cut off in the middle may be done. */
function writes({ files = [] }: ToolCall): boolean {
  return files.length > 0;
}

/** An error of a service: the words are looked at too. */
export function failureOf(message: string | null, more: Partial<StreamFailure> = {}): StreamFailure {
  return {
    status: null,
    kind: null,
    what: null,
    message: message ?? "an error without a message",
    isOwn: false,
    resetsAt: null,
    resetTexts: message === null ? [] : [message],
    at: null,
    ...more,
  };
}

function withDenial({ denied, deniedCalls }: StreamFacts, name: string): Partial<StreamFacts> {
  const shown = stripEscapes(name).slice(0, NAME_LENGTH_MAX).toWellFormed();
  const names = [...new Set([...denied, shown])].slice(0, DENIED_MAX);
  return { denied: names, deniedCalls: deniedCalls + 1 };
}

/** An agent that was denied everything ends with a good word and exit code 0. */
function denialIn(
  { denied, deniedCalls, toolCalls }: StreamFacts,
  hasWritten: boolean,
): StreamFailure | null {
  return hasWritten || toolCalls > deniedCalls ? null : notPermitted(denied);
}

/** Null when nothing was denied. */
export function notPermitted(tools: readonly string[]): StreamFailure | null {
  return tools.length === 0
    ? null
    : failureOf(`not permitted: ${tools.join(", ")}`, { isOwn: true, kind: "permission_denied" });
}

const NOTHING: StreamFacts = {
  sessionId: null,
  model: null,
  message: "",
  isMidWork: false,
  toolCalls: 0,
  lastTool: null,
  currentFile: null,
  filesWritten: [],
  ranCommands: false,
  leftRunning: false,
  denied: [],
  deniedCalls: 0,
  usage: UNKNOWN_USAGE,
  heard: 0,
  isOver: false,
  failure: null,
  retrying: null,
  hadErrors: false,
  isWaiting: true,
};

function endOf(message: string): string {
  return message.length > 2 * MESSAGE_LENGTH_MAX ? message.slice(-MESSAGE_LENGTH_MAX) : message;
}

/** Nobody is paid for working: what is below zero, more than by rounding, is not known. */
function withoutNonsense(usage: Usage): Usage {
  const { costUsd } = usage;
  if (costUsd === null || costUsd >= 0) return usage;
  return { ...usage, costUsd: costUsd > -1e-6 ? 0 : null };
}

export function relativeTo(folders: readonly string[], path: string): string {
  for (const folder of folders) {
    const root = folder.endsWith("/") ? folder : `${folder}/`;
    if (path.startsWith(root) && path.length > root.length) return path.slice(root.length);
  }
  return path.replace(/^(?:\.\/+)+(?=[^/])/, "");
}
