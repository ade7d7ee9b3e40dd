import type { Conversation } from "./conversation.ts";
import type { Failure } from "./reply.ts";
import type { ToolCall } from "./tool-call.ts";

/** One of the interfaces that model providers offer. */
export interface WireFormat {
  /** The path of its requests, behind the scenario. */
  readonly path: RegExp;
  read(body: unknown): Conversation;
  wantsStream(body: unknown, path: string): boolean;
  answer(turn: Turn): Answer;
  failure(failure: Failure, resetsAt: Date): HttpFailure;
}

/** What the model says, before it has a wire format. */
export interface Turn {
  readonly model: string;
  readonly say: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
  /** It ends in the middle, at the limit of an answer's length. */
  readonly isCutOff?: boolean;
}

export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** The same answer in one piece and as a stream. */
export interface Answer {
  readonly whole: unknown;
  readonly events: readonly ServerEvent[];
}

export interface ServerEvent {
  readonly event?: string;
  readonly data: unknown;
}

export interface HttpFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Models answer in small pieces. */
export function pieces(text: string): readonly string[] {
  return text.match(/[^]{1,60}/g) ?? [];
}

/** An identifier in the manner of the providers. */
export function newId(prefix: string): string {
  return `${prefix}${crypto.randomUUID().replaceAll("-", "")}`;
}

export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
