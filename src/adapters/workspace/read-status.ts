import { textOf, type Git } from "../git/git.ts";

/** One path that differs from HEAD, in the index or in the work tree. */
export interface StatusEntry {
  /** As git wrote it, byte for byte. */
  readonly bytes: string;
  readonly path: string;
  readonly is: "tracked" | "untracked" | "conflict";
  /** The index differs from HEAD. */
  readonly staged: boolean;
  /** Not in the work tree. */
  readonly missing: boolean;
  /** A commit can hold it: not so a repository inside ours, or changes inside a submodule. */
  readonly committable: boolean;
}

export interface StatusOptions {
  /** Just this one. */
  readonly path?: string;
  /**
   * Nobody is at work whom a lock could be in the way: git may write down what it found unchanged. Without that it
   * reads a file that was only touched again and again.
   */
  readonly mayRefresh?: boolean;
}

/** One walk over the work tree; ignored files are left out. */
export async function readStatus(git: Git, options: StatusOptions = {}): Promise<StatusEntry[]> {
  const entries: StatusEntry[] = [];
  const only = options.path === undefined ? [] : ["--", `:(literal)${options.path}`];
  await git.must(["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", ...only], {
    env: { GIT_OPTIONAL_LOCKS: options.mayRefresh === true ? "1" : "0" },
    onRecord: (record) => {
      const entry = readEntry(record);
      if (entry !== null) entries.push(entry);
    },
  });
  return entries;
}

const TRACKED = /^1 (..) (....) \d+ \d+ (\d+) \S+ \S+ ([^]*)$/;
const CONFLICT = /^u (..) (....) \d+ \d+ \d+ (\d+) \S+ \S+ \S+ ([^]*)$/;

function readEntry(record: string): StatusEntry | null {
  switch (record[0]) {
    case "?":
      return untracked(record.slice(2));
    case "1":
      return tracked(TRACKED.exec(record), "tracked");
    case "u":
      return tracked(CONFLICT.exec(record), "conflict");
    default:
      return null;
  }
}

function untracked(bytes: string): StatusEntry {
  // Git lists files one by one and names a folder only where another repository begins.
  const committable = !bytes.endsWith("/");
  return { bytes, path: textOf(bytes), is: "untracked", staged: false, missing: false, committable };
}

function tracked(match: RegExpExecArray | null, is: "tracked" | "conflict"): StatusEntry | null {
  const [, xy = "", submodule = "", mode = "", bytes = ""] = match ?? [];
  if (bytes === "") return null;
  const staged = xy[0] !== ".";
  const missing = /^0+$/.test(mode);
  const onlyInside = submodule.startsWith("S.") && !staged && !missing;
  return { bytes, path: textOf(bytes), is, staged, missing, committable: is === "tracked" && !onlyInside };
}
