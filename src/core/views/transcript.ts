import type { Usage } from "../streams/agent-report.ts";
import { type Fields, momentOf, readJsonLine, textOf } from "../streams/json-fields.ts";
import {
  createFactRecorder,
  type FactRecorder,
  relativeTo,
  type StreamFailure,
  type ToolCall,
} from "../streams/stream-facts.ts";
import { formatOf, type StreamFormat, STREAMS } from "../streams/stream-format.ts";
import type { Instant } from "../time.ts";
import { stripEscapes } from "../words/strip-escapes.ts";
import { toolInWords } from "./tool-words.ts";

/** Something that an agent said or did, as a person reads it. No text in it can disturb a terminal. */
export interface TranscriptEntry {
  readonly kind: "text" | "tool" | "edit" | "thinking" | "error" | "note";
  /** Null when the stream does not tell. */
  readonly at: Instant | null;
  /** What all has cost so far, as the stream tells it. */
  readonly costUsd: number | null;
  /** Where in the transcript the line begins that opened it, in bytes. */
  readonly place: number;
  /** The words, or one line for a call: `Run npm test`. */
  readonly title: string;
  /** What came of a call, in few words. */
  readonly brief: string;
  readonly state: "open" | "good" | "bad";
  /** An agent of the agent's own did it. */
  readonly isNested: boolean;
  /** The id of a call; empty for anything else. */
  readonly call: string;
  /** What unfolds of a call: the rest of its input, its result, and a diff of lines with `+`, `-` or a space. */
  readonly input: string;
  readonly result: string;
  readonly diff: string;
}

export interface TranscriptOptions {
  readonly onEntry: (entry: TranscriptEntry) => void;
  /** Takes secrets out of what is shown. */
  readonly redact?: (text: string) => string;
  /** Files inside are named from here. */
  readonly workspace?: string | null;
}

/** Hears facts, passes them on, and makes entries of them; they come in order, each when it is complete. */
export interface EntryRecorder extends FactRecorder {
  /** Where the lines that follow begin. */
  reads(place: number): void;
  /** A line that is no event. */
  prints(line: string, kind: "text" | "note"): void;
  /** The entries that are not complete, the oldest first. */
  open(): readonly TranscriptEntry[];
  /** Gives out the open ones as they are. */
  end(): void;
}

interface Draft {
  readonly kind: "text" | "tool" | "thinking" | "error" | "note";
  readonly at: Instant | null;
  readonly costUsd: number | null;
  readonly place: number;
  /** Of a call or a message. */
  readonly id: string;
  readonly isNested: boolean;
  words: string;
  lines: number;
  tool: ToolCall | null;
  isGood: boolean | null;
  isOpen: boolean;
}

/** So many entries wait for a call to end before it is given out without its result. */
const WAITING_MAX = 50;
const CALLS_MAX = 1_000;
/** Words go on in another entry after so much. */
const WORDS_LENGTH_MAX = 64 * 1024;
const PRINTED_LINES_MAX = 10;
const PRINTED_LENGTH_MAX = 16 * 1024;
const DETAIL_LENGTH_MAX = 32 * 1024;

class Entries {
  readonly facts: FactRecorder;
  readonly #options: TranscriptOptions;
  readonly #waiting: Draft[] = [];
  readonly #calls = new Map<string, Draft>();
  #workspaces: readonly string[];
  #at: Instant | null = null;
  #place = 0;

  constructor(facts: FactRecorder, options: TranscriptOptions) {
    this.facts = facts;
    this.#options = options;
    this.#workspaces = options.workspace == null ? [] : [options.workspace];
  }

  set at(at: Instant | null) {
    this.#at = at ?? this.#at;
  }

  set place(place: number) {
    this.#place = place;
  }

  addWorkspace(folder: string): void {
    this.#workspaces = [...new Set([folder, ...this.#workspaces])].slice(0, 10);
  }

  /** Words that nothing follows yet, if they are of this kind and message. */
  #growing(kind: Draft["kind"], id: string | null): Draft | null {
    const last = this.#waiting.at(-1);
    const isSame = last?.kind === kind && last.isOpen && (id === null || last.id === "" || last.id === id);
    return isSame && last.tool === null && last.words.length < WORDS_LENGTH_MAX ? last : null;
  }

  /** Goes on with the words before, where nothing came between. */
  grow(kind: Draft["kind"], text: string, id: string | null): void {
    const draft = this.#growing(kind, id);
    if (draft === null) this.add({ kind, words: text, id: id ?? "", isOpen: true });
    else draft.words += text;
  }

  /** A long line becomes several entries. */
  print(line: string, kind: "text" | "note"): void {
    for (let at = 0; at === 0 || at < line.length; at += PRINTED_LENGTH_MAX) {
      const piece = `${line.slice(at, at + PRINTED_LENGTH_MAX)}\n`;
      const draft = this.#growing(kind, null) ?? this.add({ kind, isOpen: true });
      draft.words += piece;
      draft.lines += 1;
      if (draft.lines >= PRINTED_LINES_MAX || draft.words.length >= PRINTED_LENGTH_MAX) this.close();
    }
  }

  add(more: Partial<Draft> & Pick<Draft, "kind">): Draft {
    this.close();
    const draft: Draft = {
      at: this.#at,
      costUsd: this.facts.read().usage.costUsd,
      place: this.#place,
      id: "",
      isNested: false,
      words: "",
      lines: 0,
      tool: null,
      isGood: null,
      isOpen: false,
      ...more,
    };
    // What an agent of the agent's own does is not held up by the call that it works for.
    const head = this.#waiting[0];
    if (draft.isNested && head?.tool != null && !head.isNested) this.#giveOut();
    this.#waiting.push(draft);
    this.#release();
    return draft;
  }

  /** Words do not go on. */
  close(): void {
    const last = this.#waiting.at(-1);
    if (last === undefined || last.tool !== null) return;
    last.isOpen = false;
    this.#release();
  }

  startTool(tool: ToolCall): void {
    if (this.#calls.has(tool.id)) return this.showTool(tool.id, tool);
    const { id, isNested = false } = tool;
    const draft = this.add({ kind: "tool", id, isNested, tool, isOpen: true });
    if (this.#calls.size < CALLS_MAX) this.#calls.set(id, draft);
  }

  showTool(id: string, more: Partial<ToolCall>): void {
    const draft = this.#calls.get(id);
    if (draft?.tool == null) return;
    const told = Object.entries(more).filter(([, value]) => value != null);
    draft.tool = { ...draft.tool, ...Object.fromEntries(told), id };
  }

  endTool(id: string, isGood: boolean, result: unknown): void {
    const draft = this.#calls.get(id);
    if (draft === undefined) return;
    this.showTool(id, { result });
    this.#calls.delete(id);
    draft.isGood = isGood;
    draft.isOpen = false;
    if (this.#waiting.includes(draft)) this.#release();
    // Its beginning was given out already.
    else this.add({ ...draft, place: this.#place, at: this.#at });
  }

  open(): readonly TranscriptEntry[] {
    return this.#waiting.map((draft) => this.#entryOf(draft));
  }

  end(): void {
    while (this.#waiting.length > 0) this.#giveOut();
  }

  #release(): void {
    while (this.#waiting.length > WAITING_MAX || this.#waiting[0]?.isOpen === false) this.#giveOut();
  }

  #giveOut(): void {
    const draft = this.#waiting.shift();
    if (draft !== undefined) this.#options.onEntry(this.#entryOf(draft));
  }

  #entryOf({ kind, at, costUsd, place, id, isNested, words, tool, isGood, isOpen }: Draft): TranscriptEntry {
    const shared = { at, costUsd, place, isNested, call: tool === null ? "" : id };
    const clean = (text: string): string => this.#clean(text);
    if (tool === null || kind !== "tool") {
      const state = kind === "error" ? "bad" : isOpen ? "open" : "good";
      return {
        ...shared,
        kind,
        title: bounded(clean(words.slice(0, 2 * WORDS_LENGTH_MAX)), WORDS_LENGTH_MAX),
        brief: "",
        state,
        input: "",
        result: "",
        diff: "",
      };
    }
    const { name, title = null, input, result } = tool;
    const told = toolInWords({ name, title, input, result, isGood }, (path) =>
      relativeTo(this.#workspaces, path),
    );
    return {
      ...shared,
      kind: told.kind,
      title: clean(told.title).replaceAll(/\s+/g, " "),
      brief: clean(told.brief).replaceAll(/\s+/g, " "),
      state: told.state,
      input: bounded(clean(told.input)),
      result: bounded(clean(told.result)),
      diff: bounded(clean(told.diff)),
    };
  }

  #clean(text: string): string {
    const plain = stripEscapes(text).replaceAll("\r\n", "\n").replaceAll("\r", "\n").toWellFormed();
    return this.#options.redact?.(plain) ?? plain;
  }
}

function bounded(text: string, most = DETAIL_LENGTH_MAX): string {
  const more = text.length - most;
  if (more <= 0) return text;
  return `${text.slice(0, most).toWellFormed()}\n… ${more} more characters: ralph logs --raw`;
}

export function recordEntries(facts: FactRecorder, options: TranscriptOptions): EntryRecorder {
  const entries = new Entries(facts, options);
  let lastSaid = "";
  let lastError = "";
  const fail = (message: string): void => {
    if (message !== lastError) entries.add({ kind: "error", words: message });
    lastError = message;
  };
  return {
    ...facts,
    happens: (at) => (entries.at = at),
    reads: (place) => (entries.place = place),
    prints: (line, kind) => entries.print(line, kind),
    open: () => entries.open(),
    end: () => entries.end(),
    workspace(folder) {
      facts.workspace(folder);
      if (folder !== null) entries.addWorkspace(folder);
    },
    model(name) {
      const known = facts.read().model;
      facts.model(name);
      if (name !== null && name !== known) entries.add({ kind: "note", words: `Model ${name}` });
    },
    says(text, messageId) {
      facts.says(text, messageId);
      // The final result repeats the last message.
      if (text.trim() !== "" && text !== lastSaid) entries.add({ kind: "text", words: text });
      lastSaid = text;
    },
    saysMore(piece, messageId) {
      facts.saysMore(piece, messageId);
      if (piece !== "") entries.grow("text", piece, messageId ?? null);
    },
    thinks(text, isPiece = false) {
      if (isPiece) entries.grow("thinking", text, null);
      else if (text.trim() !== "") entries.add({ kind: "thinking", words: text });
    },
    worksOn() {
      facts.worksOn();
      entries.close();
    },
    ...recordCalls(facts, entries),
    denies(id, name) {
      const known = facts.read().denied;
      facts.denies(id, name);
      for (const tool of facts.read().denied) if (!known.includes(tool)) fail(`Not permitted: ${tool}`);
    },
    fails(failure) {
      facts.fails(failure);
      fail(failure.message);
    },
    retries(failure) {
      const known = facts.read().retrying?.message;
      facts.retries(failure);
      if (failure.message !== known) entries.add({ kind: "note", words: `Tries again: ${failure.message}` });
    },
    ends(failure) {
      facts.ends(failure);
      const told: StreamFailure | null = facts.read().failure;
      if (told !== null && told.kind !== "permission_denied") fail(told.message);
      entries.add({ kind: "note", words: endInWords(facts.read().usage, told !== null) });
    },
  };
}

function recordCalls(
  facts: FactRecorder,
  entries: Entries,
): Pick<FactRecorder, "startsTool" | "showsTool" | "endsTool"> {
  return {
    startsTool(tool) {
      facts.startsTool(tool);
      entries.startTool(tool);
    },
    showsTool: (id, more) => entries.showTool(id, more),
    endsTool(id, isGood, result) {
      facts.endsTool(id, isGood);
      entries.endTool(id, isGood, result);
    },
  };
}

function endInWords(usage: Usage, isFailure: boolean): string {
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  const count = (tokens: number | null, what: string): readonly string[] =>
    tokens === null ? [] : [`${tokens.toLocaleString("en")} ${what}`];
  const tokens = [
    ...count(inputTokens, "tokens in"),
    ...count(cacheReadTokens, "from the cache"),
    ...count(outputTokens, "out"),
  ];
  return [isFailure ? "Ended with an error" : "Ended", tokens.join(", ")].filter(Boolean).join(" · ");
}

/** Reads the lines of a transcript. */
export interface TranscriptReading {
  /** `place`: where the line begins, in bytes. */
  line(line: string, place: number): void;
  /** Whether a call or a message is under way. */
  isMidway(): boolean;
  open(): readonly TranscriptEntry[];
  end(): void;
}

export interface TranscriptBeginning {
  readonly format: StreamFormat | "text";
  /** Where the agent worked, if its stream says so. */
  readonly workspace: string | null;
}

export function readTranscriptLines(
  { format, workspace }: TranscriptBeginning,
  options: TranscriptOptions,
): TranscriptReading {
  const entries = recordEntries(createFactRecorder(null), {
    ...options,
    workspace: workspace ?? options.workspace ?? null,
  });
  return {
    line(line, place) {
      entries.reads(place);
      const events = format === "text" ? null : readJsonLine(line);
      if (format === "text") entries.prints(line, "text");
      else if (events === null) entries.prints(isCutEvent(line) ? CUT_OFF : line, "note");
      else for (const event of events) readEvent(format, event, entries);
    },
    isMidway: () =>
      entries.open().some(({ state, kind }) => state === "open" && kind !== "note" && format !== "text"),
    open: () => entries.open(),
    end: () => entries.end(),
  };
}

function readEvent(format: StreamFormat, event: Fields, facts: FactRecorder): void {
  facts.happens(momentOf(event["timestamp"]));
  STREAMS[format](event, facts);
}

const CUT_OFF = "(an event that was cut off)";

/** The beginning of an event whose rest is missing. */
export function isCutEvent(line: string): boolean {
  return /^\s*\[?\s*\{\s*"/.test(line);
}

/** A stream may have so many lines of noise for each event. */
const NOISE_MAX = 4;

/** What the first lines of a transcript tell of all the others. */
export function beginningOf(lines: readonly string[]): TranscriptBeginning {
  const read = lines.map(readJsonLine);
  const events = read.flatMap((found) => found ?? []);
  const formats = events.map(formatOf).filter((format) => format !== null);
  const noise = read.filter((found) => found === null).length;
  const format = formats.length * NOISE_MAX >= noise ? (formats[0] ?? "text") : "text";
  const workspace = events.map((event) => textOf(event["cwd"])).find((cwd) => cwd !== null) ?? null;
  return { format, workspace: format === "text" ? null : workspace };
}
