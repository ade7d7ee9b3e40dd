import { createRedactor } from "../../core/redact.ts";
import { createLineSplitter, type LineSplitter } from "../system/line-splitter.ts";
import { createRedactingStream } from "../system/redacting-stream.ts";
import type { AgentReader } from "./agent-adapter.ts";

export interface OutputTapOptions {
  readonly secrets: readonly string[];
  readonly reader: AgentReader;
  readonly write: (bytes: Buffer) => Promise<void>;
  readonly show: ((text: string) => void) | undefined;
}

/**
 * Lets an agent's output flow to three places: the reader of signals, the transcript, and whoever watches. Secrets
 * are taken out before, so that nothing behind this point has to think of them.
 */
export interface OutputTap {
  readonly stdout: (chunk: Buffer) => Promise<void> | void;
  readonly stderr: (chunk: Buffer) => Promise<void> | void;
  /** Lets go of what was held back, and adds a line of our own, which is none of the agent's words. */
  end(note?: string | null): Promise<void>;
  bytes(): number;
}

export function createOutputTap({ secrets, reader, write, show }: OutputTapOptions): OutputTap {
  let bytes = 0;
  const showRaw = reader.showsItself === true ? undefined : show;
  const { lineBytesMax, stdoutPassage: onPassage } = reader;
  const words = createLineSplitter((line) => reader.stdoutLine(line), { lineBytesMax, onPassage });
  const stdout = createBranch(words, secrets, write, showRaw);
  const errors = createLineSplitter((line) => reader.stderrLine(line));
  const stderr = createBranch(errors, secrets, write, show);
  return {
    stdout(chunk) {
      bytes += chunk.length;
      return stdout.push(chunk);
    },
    stderr(chunk) {
      bytes += chunk.length;
      return stderr.push(chunk);
    },
    async end(note = null) {
      await stdout.end();
      await stderr.end();
      if (note === null) return;
      const line = `\nralph: ${createRedactor(secrets)(note)}\n`;
      show?.(line);
      await write(Buffer.from(line));
    },
    bytes: () => bytes,
  };
}

interface Branch {
  push(chunk: Buffer): Promise<void> | void;
  end(): Promise<void>;
}

function createBranch(
  lines: LineSplitter,
  secrets: readonly string[],
  write: OutputTapOptions["write"],
  show: OutputTapOptions["show"],
): Branch {
  const redacting = createRedactingStream(secrets);
  const decoder = new TextDecoder();
  return {
    push(chunk) {
      let written: Promise<void> | undefined;
      for (const clean of redacting.push(chunk)) {
        lines.push(clean);
        show?.(decoder.decode(clean, { stream: true }));
        written = write(clean);
      }
      return written;
    },
    async end() {
      const clean = redacting.end();
      lines.push(clean);
      lines.end();
      show?.(decoder.decode(clean));
      if (clean.length > 0) await write(clean);
    },
  };
}
