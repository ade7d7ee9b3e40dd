import { formatDuration } from "../../../core/time.ts";
import { randomUUID } from "node:crypto";
import type { Ending } from "../../../core/streams/agent-report.ts";
import { createOutputTail } from "../../process/line-splitter.ts";
import { sweep } from "../../process/process-sweep.ts";
import { supervise } from "../../process/supervise.ts";
import { asOwn, isAbandoned, readRecord, type WorktreeRecord, writeRecord } from "./registry.ts";
import { type RegisteredWorktree } from "../find-repository.ts";

export interface SetupOptions {
  /** For the shell; nothing is run when it is empty. */
  readonly setup: string;
  readonly setupTimeoutMs?: number;
  /** What the set-up finds in its environment. Variables that lead git elsewhere are left out. */
  readonly env: NodeJS.ProcessEnv;
  readonly redact: (text: string) => string;
}

/** Once for a worktree: only a success is remembered. Answers why it failed, or null. */
export async function runSetup(
  worktree: RegisteredWorktree,
  record: WorktreeRecord,
  options: SetupOptions,
  signal: AbortSignal,
): Promise<string | null> {
  await endAbandonedSetup(worktree);
  if (record.isSetUp || options.setup.trim() === "") return null;
  const marker = randomUUID();
  writeRecord(worktree, { ...record, settingUp: { marker, pid: process.pid } });
  const why = await asOwn(marker, () => runOnce(worktree.root, marker, options, signal));
  writeRecord(worktree, { ...record, isSetUp: why === null, settingUp: null });
  return why;
}

/** A process of ours that was killed leaves its set-up running. */
export async function endAbandonedSetup(worktree: RegisteredWorktree): Promise<void> {
  const record = readRecord(worktree);
  if (record?.settingUp == null) return;
  const { marker, pid } = record.settingUp;
  if (!isAbandoned(marker, pid)) return;
  await sweep(marker);
  writeRecord(worktree, { ...record, settingUp: null });
}

const TIMEOUT_MS = 15 * 60_000;
const GRACE_MS = 2_000;
const LINES_TOLD = 20;
const LENGTH_TOLD = 2_000;

async function runOnce(
  root: string,
  marker: string,
  { setup, setupTimeoutMs = TIMEOUT_MS, env, redact }: SetupOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const tail = createOutputTail();
  const { ending } = await supervise(
    {
      command: ["sh", "-c", setup],
      cwd: root,
      env: withoutPlaceOfGit(env),
      marker,
      timeoutMs: setupTimeoutMs,
      graceMs: GRACE_MS,
      onStdout: tail.take,
      onStderr: tail.take,
    },
    signal,
  );
  const what = whatHappened(ending);
  if (what === null) return null;
  const said = tail.text(redact).split("\n").slice(-LINES_TOLD).join("\n").slice(-LENGTH_TOLD);
  return `the set-up ${redact(JSON.stringify(setup))} ${redact(what)}${said === "" ? "" : `:\n${said}`}`;
}

function whatHappened(ending: Ending): string | null {
  switch (ending.is) {
    case "exited":
      return ending.code === 0 ? null : `failed with exit code ${ending.code}`;
    case "signalled":
      return `was ended by ${ending.signal}`;
    case "timed-out":
    case "idle":
      return `was not over after ${formatDuration(ending.afterMs)}`;
    case "stopped":
    case "interrupted":
      return "was stopped";
    case "not-started":
      return `could not be started: ${ending.message}`;
  }
}

/** In a hook, git says to all its children which repository is meant: not this one. */
const PLACE_OF_GIT =
  /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES)|NAMESPACE|PREFIX)$/;

function withoutPlaceOfGit(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !PLACE_OF_GIT.test(entry[0]),
  );
  return Object.fromEntries(entries);
}
