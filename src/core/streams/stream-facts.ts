import type { Instant } from "../time.ts";
import { UNKNOWN_USAGE, type FailureKind, type Usage, usageWith, usageWithout } from "./agent-report.ts";
import { stripEscapes } from "../words/strip-escapes.ts";
import { type Fields, textOf } from "./json-fields.ts";

/** What every structured format tells, once it is translated: at first nothing. */
const NOTHING = {
  sessionId: null as string | null,
  model: null as string | null,
  /** The last assistant message, of a very long one its end. */
  message: "",
  /** A tool was called after that message, or with it: there was more to come. */
  isMidWork: false,
  /** Started, whether or not they went well. */
  toolCalls: 0,
  lastTool: null as string | null,
  currentFile: null as string | null,
  /** Unique, without denied and failed writes; relative where inside the workspace. */
  filesWritten: [] as readonly string[],
  /** It may have written files that it does not tell. */
  ranCommands: false,
  /** It has started something that goes on in the background. */
  leftRunning: false,
  /** Tools that it was not permitted to use. */
  denied: [] as readonly string[],
  deniedCalls: 0,
  usage: UNKNOWN_USAGE,
  /** Of what was said to it, the prompt included, so many it has told us to have heard. */
  heard: 0,
  /** The final result was given, good or bad. */
  isOver: false,
  failure: null as StreamFailure | null,
  /** It tries again by itself after this error, and has got no further since. */
  retrying: null as StreamFailure | null,
  /** It was told of an error, though it may have got over it. */
  hadErrors: false,
  /** It has no tool at work: it is its model's turn. */
  isWaiting: true,
};
export type StreamFacts = Readonly<typeof NOTHING>;

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

/** Readers of events or items by their type. What answers false was of a kind that we do not know. */
type Readers = Readonly<Record<string, (event: Fields, facts: FactRecorder) => void | boolean>>;

/** `known` are types that say nothing of interest. */
export function byType(readers: Readers, known = /^(?!)/): StreamTranslator {
  return (event, facts) => {
    const type = textOf(event["type"]) ?? "";
    if (!Object.hasOwn(readers, type)) return known.test(type);
    return readers[type]?.(event, facts) !== false;
  };
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

export type FactRecorder = ReturnType<typeof createFactRecorder>;

/** Collects the facts of one stream in bounded memory. */
export function createFactRecorder(workspace: string | null) {
  const written = createWrittenFiles(workspace);
  const { relative, writes } = written;
  const open = new Map<string, ToolCall>();
  let facts: StreamFacts = NOTHING;
  let speaking: string | null = null;
  let isInStep = false;
  const set = (more: Partial<StreamFacts>): void => {
    facts = { ...facts, ...more };
  };
  const usage = createUsageMeter();
  const speak = (message: string, messageId: string | null): void => {
    const kept = message.length > 2 * MESSAGE_LENGTH_MAX ? message.slice(-MESSAGE_LENGTH_MAX) : message;
    speaking = messageId;
    set({ message: kept, isMidWork: false, retrying: null });
  };
  return {
    workspace: written.isIn,
    /** With the id of the message before it goes on with that one. */
    says(text: string, messageId: string | null = null): void {
      const goesOn = messageId !== null && messageId === speaking && facts.message !== "";
      speak(goesOn ? `${facts.message}\n${text}` : text, messageId);
    },
    /** The next piece of the message; of another one when there is work between, or its id differs. */
    saysMore(piece: string, messageId: string | null = null): void {
      const goesOn = messageId === null || speaking === null ? !facts.isMidWork : messageId === speaking;
      speak(goesOn ? facts.message + piece : piece, messageId);
    },
    ...FOR_PEOPLE_ONLY,
    /** The same id twice is one call. Its files count when it ends well. */
    startsTool(tool: ToolCall): void {
      if (open.has(tool.id)) return;
      // Its input may be long, and is for people only.
      const { id, name, files } = tool;
      if (open.size < CALLS_OPEN_MAX) open.set(id, { id, name, ...(files && { files }) });
      set(withTool(facts, tool, relative));
    },
    /** Files of a call that has started, told later. */
    toolWrites(id: string, more: readonly string[]): void {
      const tool = open.get(id);
      if (tool === undefined || more.length === 0) return;
      open.set(id, { ...tool, files: [...new Set([...(tool.files ?? []), ...more])].slice(0, FILES_MAX) });
      set({ currentFile: more.map(relative).at(-1) ?? null });
    },
    endsTool(id: string, isGood: boolean, _result?: unknown): void {
      if (isGood) writes(open.get(id)?.files ?? []);
      open.delete(id);
    },
    /** A call that has not ended yet was not permitted. Without a name it is that of the call. */
    denies: (id: string, name = open.get(id)?.name ?? "a tool") => set(withDenial(facts, name)),
    writes,
    /** A step in which tools may be at work that it does not tell of. */
    steps: (isOpen: boolean) => void (isInStep = isOpen),
    ...usage,
    ...createProgress(set, () => ({ ...facts, filesWritten: written.files() })),
    read: (): StreamFacts => ({
      ...facts,
      filesWritten: written.files(),
      usage: usage.spent(),
      isWaiting: open.size === 0 && !isInStep && !facts.isOver,
      // What is cut off in the middle may be done.
      ranCommands: facts.ranCommands || [...open.values()].some(({ files = [] }) => files.length > 0),
    }),
  };
}

/** Unique, and relative where they are inside of a workspace; worked out only when somebody asks. */
function createWrittenFiles(workspace: string | null) {
  const workspaces = workspace === null ? [] : [workspace];
  const paths = new Set<string>();
  let known: readonly string[] | null = [];
  const relative = (path: string): string => relativeTo(workspaces, path);
  return {
    relative,
    isIn: (folder: string | null): void => {
      if (folder === null || workspaces.includes(folder) || workspaces.length === WORKSPACES_MAX) return;
      workspaces.push(folder);
      known = null;
    },
    writes: (more: readonly string[]): void => {
      for (const path of more) if (paths.size < FILES_MAX) paths.add(path);
      if (more.length > 0) known = null;
    },
    files: (): readonly string[] => (known ??= [...new Set([...paths].map(relative))]),
  };
}

/** What counts for nothing, and is shown to people. */
const FOR_PEOPLE_ONLY = {
  /** When the events that follow happened; null when nobody says. */
  happens(_at: Instant | null): void {},
  /** A piece goes on with the thoughts before. */
  thinks(_text: string, _isPiece?: boolean): void {},
  /** What a call does, or what came of it, told later. */
  showsTool(_id: string, _more: Pick<ToolCall, "title" | "input" | "result">): void {},
};

/** How far it is with its turn. */
function createProgress(set: (more: Partial<StreamFacts>) => void, read: () => StreamFacts) {
  return {
    session(id: string | null): void {
      if (id !== null) set({ sessionId: id });
    },
    model(name: string | null): void {
      if (name !== null) set({ model: name });
    },
    /** A message of ours has reached it. */
    hears: () => set({ heard: read().heard + 1 }),
    /** What was said so far was not the last word. */
    worksOn: () => set({ isMidWork: true }),
    ends: (failure: StreamFailure | null = null) =>
      set({ isOver: true, failure: failure ?? denialIn(read()), retrying: null }),
    /** Another turn begins after a final result. */
    goesOn: () => set({ isOver: false, failure: null }),
    /** An error that may yet be the last word. */
    fails: (failure: StreamFailure) => set({ failure, hadErrors: true }),
    retries: (failure: StreamFailure) => set({ retrying: failure }),
    recovers: () => set({ failure: null, retrying: null }),
  };
}

/** What was told for good, and what single answers have used since. */
function createUsageMeter() {
  const answers = new Map<string, Usage>();
  let told = UNKNOWN_USAGE;
  let sum = UNKNOWN_USAGE;
  const uses = (usage: Usage): void => {
    answers.clear();
    sum = UNKNOWN_USAGE;
    told = usage;
  };
  return {
    /** Replaces what was known. */
    uses: (usage: Usage) => uses(withoutNonsense(usage)),
    usesMore: (usage: Usage) => uses(usageWith(told, withoutNonsense(usage))),
    /** What one answer of the model has used so far; gone when what all of them used is told. */
    usesMeanwhile(id: string, usage: Usage): void {
      const before = answers.get(id);
      if (before === undefined && answers.size === CALLS_OPEN_MAX) return;
      answers.set(id, usage);
      sum = usageWith(before === undefined ? sum : usageWithout(sum, before), usage);
    },
    spent: () => usageWith(told, sum),
  };
}

function withTool(
  { toolCalls, ranCommands, leftRunning }: StreamFacts,
  { name, files = [], inBackground = false }: ToolCall,
  relative: (path: string) => string,
): Partial<StreamFacts> {
  return {
    leftRunning: leftRunning || inBackground,
    toolCalls: toolCalls + 1,
    lastTool: name,
    currentFile: files.map(relative).at(-1) ?? null,
    isMidWork: true,
    retrying: null,
    ranCommands: ranCommands || !TELLING.has(name),
  };
}

function withDenial({ denied, deniedCalls }: StreamFacts, name: string): Partial<StreamFacts> {
  const shown = stripEscapes(name).slice(0, NAME_LENGTH_MAX).toWellFormed();
  const names = [...new Set([...denied, shown])].slice(0, DENIED_MAX);
  return { denied: names, deniedCalls: deniedCalls + 1 };
}

/** An agent that was denied everything ends with a good word and exit code 0. */
function denialIn({ denied, deniedCalls, toolCalls, filesWritten }: StreamFacts): StreamFailure | null {
  return filesWritten.length > 0 || toolCalls > deniedCalls ? null : notPermitted(denied);
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

export function notPermitted(tools: readonly string[]): StreamFailure | null {
  return tools.length === 0
    ? null
    : failureOf(`not permitted: ${tools.join(", ")}`, { isOwn: true, kind: "permission_denied" });
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
