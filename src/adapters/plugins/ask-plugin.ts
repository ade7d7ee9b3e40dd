import type { z } from "zod";
import { formatDuration } from "../../core/time.ts";

/** One part of a plugin, as people are told of it. */
export interface PartName {
  readonly plugin: string;
  readonly kind: "agent" | "source" | "analyzer" | "guard" | "exit rule" | "gate" | "notifier";
  readonly name: string;
}

export interface Part<Kind> {
  readonly part: PartName;
  readonly does: Kind;
}

/** PLUGIN/PART, for the log. */
export function shortName({ plugin, name }: Pick<PartName, "plugin" | "name">): string {
  return `${plugin}/${name}`;
}

export function inWords({ plugin, kind, name }: PartName): string {
  return `the ${kind} "${name}" of the plugin "${plugin}"`;
}

/** A part did not do what it should; the message names it. */
export class PluginFailure extends Error {
  readonly isTimeout: boolean;

  constructor(part: PartName, what: string, options: { isTimeout?: boolean; cause?: unknown } = {}) {
    super(`${inWords(part)} ${what}`, { cause: options.cause });
    this.name = "PluginFailure";
    this.isTimeout = options.isTimeout === true;
  }
}

/** Asks a part of a plugin, within a time; then its signal aborts. Rejects only with a `PluginFailure`. */
export async function askPlugin<Answer>(
  part: PartName,
  limitMs: number,
  ask: (signal: AbortSignal) => Answer | Promise<Answer>,
  unwanted?: AbortSignal,
): Promise<Answer> {
  const control = new AbortController();
  const { signal } = control;
  const isOver = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as PluginFailure));
  });
  const timer = setTimeout(() => {
    const what = `did not answer within ${formatDuration(limitMs)}`;
    control.abort(new PluginFailure(part, what, { isTimeout: true }));
  }, limitMs);
  const stop = (): void => control.abort(new PluginFailure(part, "was stopped"));
  unwanted?.addEventListener("abort", stop);
  try {
    if (unwanted?.aborted === true) stop();
    return await Promise.race([isOver, Promise.resolve(signal).then(ask)]);
  } catch (error) {
    if (error instanceof PluginFailure) throw error;
    throw new PluginFailure(part, `failed: ${messageOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    unwanted?.removeEventListener("abort", stop);
  }
}

/** Reads what a part answered; the description of the shape says what was expected instead. */
export function readAnswer<Answer>(part: PartName, shape: z.ZodType<Answer>, answer: unknown): Answer {
  const read = shape.safeParse(answer);
  if (read.success) return read.data;
  throw new PluginFailure(part, `answered something else than ${shape.description}`);
}

const MESSAGE_LENGTH_MAX = 500;

export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.trim() || "no reason given").slice(0, MESSAGE_LENGTH_MAX);
}
