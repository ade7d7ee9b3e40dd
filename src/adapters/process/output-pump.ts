import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterPendingInput } from "./idle-watch.ts";

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

/** The sink may lag behind by so much before the process has to wait for it. */
const PENDING_BYTES_MAX = 512 * 1024;
const LOOK_MS = 25;
/**
 * So many looks in a row without a byte: counted in looks and not in time, because on a busy machine we may not
 * have been given the chance to read. Nobody of ours is left to hold the pipe, so its end usually comes at once.
 */
const QUIET_LOOKS = 40;
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
  const pending = new Set<Promise<void>>();
  let pendingBytes = 0;
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
    pendingBytes += chunk.length;
    if (pendingBytes > PENDING_BYTES_MAX) stream.pause();
    const given = taken.catch(fail).finally(() => {
      pending.delete(given);
      pendingBytes -= chunk.length;
      if (pendingBytes <= PENDING_BYTES_MAX) stream.resume();
    });
    pending.add(given);
  });
  stream.on("end", end).on("close", end).on("error", end);
  return {
    ended,
    hasEnded: () => hasEnded,
    chunks: () => chunks,
    isWaitingForSink: () => pending.size > 0,
    failure: () => failure,
    async close() {
      stream.destroy();
      await Promise.all(pending);
    },
  };
}

/**
 * Takes what the outputs of a finished process still hold, to their end, then closes them. An output that does not
 * end, quiet or endless, belongs to somebody who got away.
 */
export async function drainOutputs(outputs: readonly OutputPump[]): Promise<void> {
  const allEnded = Promise.all(outputs.map((output) => output.ended));
  const deadlineMs = performance.now() + DRAIN_MAX_MS;
  const first = chunksOf(outputs);
  let quietLooks = 0;
  while (!outputs.every((output) => output.hasEnded()) && quietLooks < QUIET_LOOKS) {
    const before = chunksOf(outputs);
    const wasBusy = outputs.some((output) => output.isWaitingForSink());
    await Promise.race([allEnded, quietMoment()]);
    const isBusy = wasBusy || outputs.some((output) => output.isWaitingForSink());
    quietLooks = isBusy || chunksOf(outputs) > before ? 0 : quietLooks + 1;
    if (chunksOf(outputs) > first + DRAIN_MAX_CHUNKS && performance.now() > deadlineMs) break;
  }
  await Promise.all(outputs.map((output) => output.close()));
}

async function quietMoment(): Promise<void> {
  await sleep(LOOK_MS);
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
