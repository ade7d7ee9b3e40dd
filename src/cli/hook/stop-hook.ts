import { few } from "../../core/text.ts";
import { ITERATION_FILES } from "../../core/streams/agent-report.ts";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  fieldsOf,
  listOf,
  numberOf,
  parsedJson,
  textOf,
  type Fields,
} from "../../core/streams/json-fields.ts";
import { checkStories } from "../../core/review/check-stories.ts";
import { REVIEW_MODES, readSnapshot, REVIEW_CAP } from "../../core/review/story-review.ts";

export type StopAnswer =
  { readonly decision: "approve" } | { readonly decision: "block"; readonly reason: string };

const APPROVE: StopAnswer = { decision: "approve" };
const BLOCKS_MAX = 5;
const SENTENCES_MAX = 20;

/** Whether an agent that wants to stop may do so. Whatever it lets through, the verdict looks at again. */
export async function answerStop(input: Fields, places: Places, env: NodeJS.ProcessEnv): Promise<StopAnswer> {
  const run = findActiveRun(places);
  if (run === null) return APPROVE;
  const uncommitted = await uncommittedPaths(run, env);
  const sentences = storySentences(run, input, env);
  if (uncommitted.length > 0)
    sentences.push(
      `You have uncommitted changes: ${few(uncommitted, 10)}. Commit all of your work, with what you noted about it.`,
    );
  if (sentences.length === 0) return APPROVE;
  const isFirst = hookMemory(env, `${run.fingerprint} ${textOf(input["session_id"]) ?? ""}`);
  // An agent that cannot mend it must not go on for ever.
  for (let number = 1; number <= BLOCKS_MAX; number += 1) {
    const first = isFirst(`stop-${number}`);
    const mayBlock = first ?? input["stop_hook_active"] !== true;
    if (mayBlock)
      return { decision: "block", reason: `${sentences.join("\n")}\nMend this, then stop again.` };
    if (first === null) return APPROVE;
  }
  return APPROVE;
}

function storySentences(run: ActiveRun, input: Fields, env: NodeJS.ProcessEnv): string[] {
  const { tasks, root, mode, before, rules } = run;
  if (tasks === null) return (before ?? []).length > 0 ? ["The file with the stories is gone."] : [];
  const text = readText(join(root, tasks));
  if (text === null) return [`${tasks} is missing, or cannot be read.`];
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    return [`${tasks} is not JSON: ${error instanceof Error ? error.message : String(error)}`];
  }
  // A review may end with a person's turn; in our own runs also with a signal, which we write down ourselves.
  const { holds, reviews } = readLastWords(input, env);
  const isExcused = holds || (run.layout === "ours" && reviews);
  const told = checkStories(file, { mode, before, rules }).filter(
    ({ rule }) => !isExcused || rule !== "nothing-reviewed",
  );
  if (told.length === 0) return [];
  const shown = told.slice(0, SENTENCES_MAX).map(({ sentence }) => `- ${sentence}.`);
  const more = told.length > shown.length ? [`- and ${told.length - shown.length} more.`] : [];
  return [`${tasks} is not as it should be:`, ...shown, ...more];
}

const TRANSCRIPT_BYTES_MAX = 256 * 1024;
const REPORTS_BYTES_MAX = 1024 * 1024;

/**
 * Whether the agent's last words say that a person has to do or to decide something, or are its review. Generous: a
 * signal that does not count after all is weighed with everything else.
 */
export function readLastWords(input: Fields, env: NodeJS.ProcessEnv) {
  const transcript = textOf(input["transcript_path"]);
  const words =
    textOf(input["last_assistant_message"]) ??
    (transcript === null ? "" : assistantWords(readEnd(transcript, TRANSCRIPT_BYTES_MAX)?.text ?? ""));
  return {
    holds: /<promise>\s*(?:BLOCKED|DECIDE):\s*[^\s<]/.test(words) || hasReported(env),
    reviews: /<promise>\s*(?:APPROVED\s*<|CHANGES_REQUESTED:\s*[^\s<])/.test(words),
  };
}

function assistantWords(text: string): string {
  return text
    .split("\n")
    .flatMap((line) => {
      if (!line.includes('"assistant"')) return [];
      const { message, isSidechain } = fieldsOf(parsedJson(line));
      const { role, content } = fieldsOf(message);
      if (role !== "assistant" || isSidechain === true) return [];
      if (typeof content === "string") return [content];
      return listOf(content).map((part) => textOf(fieldsOf(part)["text"]) ?? "");
    })
    .join("\n");
}

/** Through its tools. */
function hasReported(env: NodeJS.ProcessEnv): boolean {
  const folder = env[ITERATION_FILES.variable] ?? "";
  const reports = folder === "" ? null : readEnd(join(folder, ITERATION_FILES.reports), REPORTS_BYTES_MAX);
  const tools = (reports?.text ?? "").split("\n").map((line) => fieldsOf(parsedJson(line))["tool"]);
  return tools.includes("task_blocked") || tools.includes("ask_decision");
}

const PATIENCE_MS = 5_000;

/** What the agent has to commit before it stops; nothing when git cannot tell. */
async function uncommittedPaths(run: ActiveRun, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const commits = run.commits ?? (await configuredCommits(run.folder, env));
  if (commits !== "agent") return [];
  const { textOf: gitText, runGitAtOnce } = await import("../../adapters/git/git.ts");
  const status = ["status", "--porcelain", "-z", "--no-renames"];
  const { stdout } = runGitAtOnce(status, { cwd: run.root, env, timeoutMs: PATIENCE_MS });
  // Two letters and a space come before each path.
  const paths = gitText(stdout)
    .split("\0")
    .map((entry) => entry.slice(3));
  return paths.filter(
    (path) =>
      path !== "" && !run.ownPaths.some((own) => own === path || (own.endsWith("/") && path.startsWith(own))),
  );
}

/** For a run that does not tell; read without the schema, which takes longer to load than all the rest. */
async function configuredCommits(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const set = textOf(env["RALPH_GIT_COMMIT"]?.trim());
  if (set !== null) return set;
  const commits = (file: unknown): string | null => textOf(fieldsOf(fieldsOf(file)["git"])["commit"]);
  const json = commits(parsedJson(readText(join(folder, "ralph.json")) ?? ""));
  const toml = readText(join(folder, "ralph.toml")) ?? "";
  if (json !== null || !/\bcommit\b/.test(toml)) return json ?? "ralph";
  const { parse } = await import("smol-toml");
  try {
    return commits(parse(toml)) ?? "ralph";
  } catch {
    return "ralph"; // the run read it in its time, and tells whoever wants to start another
  }
}

/** A run that is under way, as far as its own file tells; paths are relative to the root. */
type ActiveRun = ReturnType<typeof ownRun> | ReturnType<typeof bareRun>;

export interface Places {
  /** Where the agent works, the surest first. */
  readonly folders: readonly string[];
  /** `--dir`, or what stands for it. */
  readonly ralphDir: string;
}

const MARKER = ".ralph-active";
const ACTIVE = "active.json";

/** The run that the agent belongs to; null when none is under way there. */
function findActiveRun({ folders, ralphDir }: Places): ActiveRun | null {
  for (const start of folders) {
    for (const root of upwards(start)) {
      const folder = resolve(root, ralphDir);
      // A folder that is given as a whole belongs to the repository, not to each folder in it.
      const isHere = !isAbsolute(ralphDir) || existsSync(join(root, ".git"));
      if (isHere && existsSync(join(folder, ACTIVE))) return ownRun(root, folder);
      if (existsSync(join(root, MARKER))) return bareRun(root);
    }
  }
  return null;
}

/** The folder and those above it, up to the repository's root. */
function* upwards(start: string): Generator<string> {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    yield folder;
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return;
  }
}

/** Ours keeps its files in a folder. */
function ownRun(root: string, folder: string) {
  const inside = relative(root, folder);
  // The folder of a worktree's run lies in another one; the file with the stories has a copy here.
  const own = isInside(inside) ? inside : basename(folder);
  const usual = [join(own, "tasks.json"), join(own, "prd.json"), "tasks.json", "prd.json"];
  const active = readActive(join(folder, ACTIVE));
  const found = active.source ?? usual.find((path) => existsSync(join(root, path))) ?? "";
  /** Null for a run whose tasks are not stories. */
  const tasks = isInside(found) && /\.json$/i.test(found) ? found : null;
  // What the run itself writes there is not the agent's.
  const ownPaths = [`${own}/`, tasks ?? []].flat();
  return { ...active, layout: "ours", root, folder, ownPaths, tasks } as const;
}

/** A bare one has `ralph/tasks.json`, and its marker in the root; its agents commit. */
function bareRun(root: string) {
  return {
    ...readActive(join(root, MARKER)),
    layout: "bare",
    root,
    folder: join(root, "ralph"),
    ownPaths: [MARKER, "ralph/logs/", "ralph/blocked.txt", "ralph/decide.txt"],
    tasks: "ralph/tasks.json",
    commits: "agent",
  } as const;
}

/** Damaged or not, the run is under way: what its file does not tell is not known. */
function readActive(path: string) {
  const text = readText(path) ?? "";
  const fields = fieldsOf(parsedJson(text));
  const mode = fields["iteration_mode"] ?? fields["iterationMode"];
  const cap = numberOf(fields["review_cap"] ?? fields["reviewCap"]);
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return {
    source: textOf(fields["source"]),
    commits: textOf(fields["git_commit"]),
    mode: REVIEW_MODES.find((known) => known === mode) ?? null,
    before: readSnapshot(fields["snapshot"] ?? fields["preIterationSnapshot"]),
    rules: {
      cap: cap !== null && cap >= 0 ? cap : REVIEW_CAP,
      skipReview: (fields["skip_review"] ?? fields["skipReview"]) === true,
      story: textOf(fields["story"]),
    },
    // Another one for every iteration, if the file is written anew for it.
    fingerprint: `${path} ${mtimeMs} ${text}`,
  };
}

function isInside(path: string): boolean {
  return !isAbsolute(path) && !path.split(/[/\\]/).includes("..");
}

/**
 * What hooks remember from one call to the next, in the iteration's own folder, else in one of this user for all
 * sessions, told apart by `session`. Answers whether something is done for the first time; null when that cannot be
 * remembered. Two at once are never both the first.
 */
export function hookMemory(env: NodeJS.ProcessEnv, session: string): (what: string) => boolean | null {
  const own = env[ITERATION_FILES.variable] ?? "";
  const isOwn = own !== "" && isFolder(own);
  const folder = isOwn ? own : sharedFolder();
  const prefix = isOwn ? "hook" : digestOf(session);
  return (what) => {
    if (folder === null) return null;
    try {
      closeSync(openSync(join(folder, `${prefix}-${what}`), "wx", 0o600));
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EEXIST" ? false : null;
    }
  };
}

/** Loaded only here: it would be a fifth of the start of a hook, and agents wait for hooks. */
function digestOf(session: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(session).digest("hex").slice(0, 32);
}

/** Null when there is none that is ours alone. */
function sharedFolder(): string | null {
  const folder = join(tmpdir(), `ralph-hooks-${process.getuid?.() ?? userInfo().username}`);
  if (!isFolder(tmpdir())) return null;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    return stats.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid) ? folder : null;
  } catch {
    return null; // no place to write to, and a hook goes on without
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const { O_NONBLOCK, O_RDONLY } = constants;

interface FileEnd {
  readonly text: string;
  /** Of the whole file. */
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** The last bytes of a file, whole lines of it; null for what is no file, or cannot be read. */
export function readEnd(path: string, bytesMax: number): FileEnd | null {
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const from = Math.max(0, stats.size - bytesMax);
    const buffer = Buffer.alloc(stats.size - from);
    const text = buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, from));
    const isWhole = from === 0;
    return { text: isWhole ? text : text.slice(text.indexOf("\n") + 1), bytes: stats.size, isWhole };
  } catch {
    return null; // a hook goes by what it finds
  } finally {
    if (file !== null) closeSync(file);
  }
}

const FILE_BYTES_MAX = 32 * 1024 * 1024;

/** The text of a file, without a byte order mark; null for what is no file, cannot be read, or is huge. */
function readText(path: string): string | null {
  const end = readEnd(path, FILE_BYTES_MAX);
  return end?.isWhole === true ? end.text.replace(/^\uFEFF/, "") : null;
}
