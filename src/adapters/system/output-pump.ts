import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterPendingInput } from "./awake-timer.ts";

/** One output of a process on its way to a sink, never faster than the sink. */
export interface OutputPump {
  /** Resolves when the output has ended, which may be never. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** Chunks handed over so far. */
  chunks(): number;
  isWaitingForSink(): boolean;
  failure(): { readonly error: unknown } | null;
  /** Stops reading; resolves when the sink has taken what it was given. */
  close(): Promise<void>;
}

const QUIET_MS = 25;
/** A process that exited cannot have left more than this in its pipes; only after both do we stop listening. */
const DRAIN_MAX_MS = 2_000;
const DRAIN_MAX_CHUNKS = 64;

export function pumpOutput(
  stream: Readable,
  sink: (chunk: Buffer) => void | Promise<void>,
  onFailure: () => void,
): OutputPump {
  let chunks = 0;
  let hasEnded = false;
  let pending: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const end = (): void => {
    hasEnded = true;
    resolve();
  };
  const fail = (error: unknown): void => {
    failure ??= { error };
    stream.destroy();
    onFailure();
  };
  stream.on("data", (chunk: Buffer) => {
    chunks += 1;
    const taken = offer(sink, chunk);
    if (taken === undefined) return;
    stream.pause();
    pending = taken.then(() => void stream.resume(), fail).finally(() => (pending = null));
  });
  stream.on("end", end).on("close", end).on("error", end);
  return {
    ended,
    hasEnded: () => hasEnded,
    chunks: () => chunks,
    isWaitingForSink: () => pending !== null,
    failure: () => failure,
    async close() {
      stream.destroy();
      await pending;
    },
  };
}

/**
 * Takes what the outputs of a finished process still hold, then closes them. What it wrote is already there and
 * comes without a pause; a quiet or endless output belongs to somebody else.
 */
export async function drainOutputs(outputs: readonly OutputPump[]): Promise<void> {
  const allEnded = Promise.all(outputs.map((output) => output.ended));
  const deadlineMs = performance.now() + DRAIN_MAX_MS;
  const first = chunksOf(outputs);
  while (!outputs.every((output) => output.hasEnded())) {
    const before = chunksOf(outputs);
    await Promise.race([allEnded, quietMoment()]);
    if (chunksOf(outputs) === before && !outputs.some((output) => output.isWaitingForSink())) break;
    if (chunksOf(outputs) > first + DRAIN_MAX_CHUNKS && performance.now() > deadlineMs) break;
  }
  await Promise.all(outputs.map((output) => output.close()));
}

async function quietMoment(): Promise<void> {
  await sleep(QUIET_MS);
  await new Promise<void>((resolve) => afterPendingInput(resolve));
}

function chunksOf(outputs: readonly OutputPump[]): number {
  return outputs.reduce((sum, output) => sum + output.chunks(), 0);
}

function offer(sink: (chunk: Buffer) => void | Promise<void>, chunk: Buffer): Promise<void> | undefined {
  try {
    return sink(chunk) ?? undefined;
  } catch (error) {
    return Promise.reject(error);
  }
}
