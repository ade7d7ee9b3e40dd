import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";

/** What hooks remember from one call to the next: that something was done. */
export interface HookMemory {
  /** Whether this is the first time; null when it cannot be remembered. Two at once are never both the first. */
  isFirst(what: string): boolean | null;
}

/** In the iteration's own folder, else in one of this user for all sessions, told apart by `session`. */
export function openHookMemory(env: NodeJS.ProcessEnv, session: string): HookMemory {
  const own = env[ITERATION_FILES.variable] ?? "";
  const isOwn = own !== "" && isFolder(own);
  const folder = isOwn ? own : sharedFolder();
  const prefix = isOwn ? "hook" : digestOf(session);
  return { isFirst: (what) => (folder === null ? null : create(join(folder, `${prefix}-${what}`))) };
}

/** Loaded only here: it would be a fifth of the start of a hook, and agents wait for hooks. */
function digestOf(session: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(session).digest("hex").slice(0, 32);
}

function create(path: string): boolean | null {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST" ? false : null;
  }
}

const KEEP_MS = 2 * 24 * 60 * 60 * 1_000;

/** Null when there is none that is ours alone. */
function sharedFolder(): string | null {
  const folder = join(tmpdir(), `ralph-hooks-${process.getuid?.() ?? userInfo().username}`);
  if (!isFolder(tmpdir())) return null;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    const isOurs = stats.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid);
    if (!isOurs) return null;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const { mtimeMs } = lstatSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
      if (Date.now() - mtimeMs > KEEP_MS) rmSync(path, { force: true });
    }
    return folder;
  } catch {
    return null; // no place to write to, and a hook goes on without
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
