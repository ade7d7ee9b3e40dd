import { few } from "../../core/text.ts";
import { ITERATION_FILES } from "../../core/report/agent-report.ts";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fieldsOf, listOf, numberOf, textOf, type Fields } from "../../core/report/streams/json-fields.ts";
import { checkStories } from "../../core/review/check-stories.ts";
import {
  REVIEW_MODES,
  type ReviewMode,
  type ReviewRules,
  type StoryBefore,
  readSnapshot,
  REVIEW_CAP,
} from "../../core/review/story-review.ts";

export type StopAnswer =
  { readonly decision: "approve" } | { readonly decision: "block"; readonly reason: string };

const APPROVE: StopAnswer = { decision: "approve" };
const BLOCKS_MAX = 5;
const SENTENCES_MAX = 20;

/** Whether an agent that wants to stop may do so. Whatever it lets through, the verdict looks at again. */
export async function answerStop(input: Fields, places: Places, env: NodeJS.ProcessEnv): Promise<StopAnswer> {
  const run = findActiveRun(places);
  if (run === null) return APPROVE;
  const sentences = [
    ...storySentences(run, input, env),
    ...uncommittedSentences(await uncommittedPaths(run, env)),
  ];
  if (sentences.length === 0) return APPROVE;
  const session = `${run.fingerprint} ${textOf(input["session_id"]) ?? ""}`;
  if (!mayBlock(openHookMemory(env, session), input)) return APPROVE;
  return { decision: "block", reason: `${sentences.join("\n")}\nMend this, then stop again.` };
}

/** An agent that cannot mend it must not go on for ever. */
function mayBlock(memory: HookMemory, input: Fields): boolean {
  for (let number = 1; number <= BLOCKS_MAX; number += 1) {
    const isFirst = memory.isFirst(`stop-${number}`);
    if (isFirst === null) return input["stop_hook_active"] !== true;
    if (isFirst) return true;
  }
  return false;
}

function storySentences(run: ActiveRun, input: Fields, env: NodeJS.ProcessEnv): readonly string[] {
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
  const problems = checkStories(file, { mode, before, rules });
  const isExcused = problems.some(({ rule }) => rule === "nothing-reviewed") && hasSpoken(run, input, env);
  const told = problems.filter(({ rule }) => !(isExcused && rule === "nothing-reviewed"));
  if (told.length === 0) return [];
  const shown = told.slice(0, SENTENCES_MAX).map(({ sentence }) => `- ${sentence}.`);
  const more = told.length > shown.length ? [`- and ${told.length - shown.length} more.`] : [];
  return [`${tasks} is not as it should be:`, ...shown, ...more];
}

/** A review may end with a person's turn; in our own runs also with a signal, which we write down ourselves. */
function hasSpoken({ layout }: ActiveRun, input: Fields, env: NodeJS.ProcessEnv): boolean {
  const { holds, reviews } = readLastWords(input, env);
  return holds || (layout === "ours" && reviews);
}

function uncommittedSentences(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  return [
    `You have uncommitted changes: ${few(paths, 10)}. Commit all of your work, with what you noted about it.`,
  ];
}

/** What the agent said before it wanted to stop. */
interface LastWords {
  /** That a person has to do or to decide something. */
  readonly holds: boolean;
  /** Its review, as a signal. */
  readonly reviews: boolean;
}

const TRANSCRIPT_BYTES_MAX = 256 * 1024;
const REPORTS_BYTES_MAX = 1024 * 1024;

/** Generous: a signal that does not count after all is weighed with everything else. */
export function readLastWords(input: Fields, env: NodeJS.ProcessEnv): LastWords {
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
  return (reports?.text ?? "").split("\n").some((line) => {
    const { tool } = fieldsOf(parsedJson(line));
    return tool === "task_blocked" || tool === "ask_decision";
  });
}

const PATIENCE_MS = 5_000;
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** What the agent has to commit before it stops; nothing when git cannot tell. */
async function uncommittedPaths(run: ActiveRun, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const commits = run.commits ?? (await configuredCommits(run.folder, env));
  if (commits !== "agent") return [];
  const { stdout } = spawnSync("git", ["status", "--porcelain", "-z", "--no-renames"], {
    cwd: run.root,
    env: { ...env, GIT_OPTIONAL_LOCKS: "0" },
    encoding: "utf8",
    timeout: PATIENCE_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Two letters and a space come before each path.
  const paths = (stdout ?? "").split("\0").map((entry) => entry.slice(3));
  return paths.filter((path) => path !== "" && !run.ownPaths.some((own) => isIn(own, path)));
}

function isIn(own: string, path: string): boolean {
  return own === path || (own.endsWith("/") && path.startsWith(own));
}

/** For a run that does not tell; read without the schema, which takes longer to load than all the rest. */
async function configuredCommits(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const set = textOf(env["RALPH_GIT_COMMIT"]?.trim());
  if (set !== null) return set;
  const json = fieldsOf(parsedJson(readText(join(folder, "ralph.json")) ?? ""));
  const toml = readText(join(folder, "ralph.toml")) ?? "";
  const { git } = /\bcommit\b/.test(toml) ? fieldsOf(await parsedToml(toml)) : json;
  return textOf(fieldsOf(git)["commit"]) ?? "ralph";
}

async function parsedToml(text: string): Promise<unknown> {
  const { readToml } = await import("../../config/config-text.ts");
  try {
    return readToml(text).value;
  } catch {
    return {}; // the run read it in its time, and tells whoever wants to start another
  }
}

/** A run that is under way, as far as its own file tells. */
interface ActiveRun {
  /** Ours keeps its files in a folder; a bare one has `ralph/tasks.json`, and its marker in the root. */
  readonly layout: "ours" | "bare";
  readonly root: string;
  /** Where its files are. */
  readonly folder: string;
  /** Relative to the root; what the run itself writes there is not the agent's. */
  readonly ownPaths: readonly string[];
  /** Relative to the root; null for a run whose tasks are not stories. */
  readonly tasks: string | null;
  readonly mode: ReviewMode | null;
  readonly before: readonly StoryBefore[] | null;
  readonly rules: ReviewRules;
  /** Who commits; null when the file does not say. */
  readonly commits: string | null;
  /** Another one for every iteration, if the file is written anew for it. */
  readonly fingerprint: string;
}

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

function ownRun(root: string, folder: string): ActiveRun {
  const active = join(folder, ACTIVE);
  const inside = relative(root, folder);
  // The folder of a worktree's run lies in another one; the file with the stories has a copy here.
  const own = isInside(inside) ? inside : basename(folder);
  const fields = fieldsIn(active);
  const given = textOf(fields["source"]);
  const found = given ?? tasksIn(root, own);
  const tasks = found !== null && isInside(found) && /\.json$/i.test(found) ? found : null;
  return {
    ...knownOf(fields),
    layout: "ours",
    root,
    folder,
    ownPaths: [`${own}/`, ...(tasks === null ? [] : [tasks])],
    tasks,
    commits: textOf(fields["git_commit"]),
    fingerprint: fingerprintOf(active),
  };
}

function bareRun(root: string): ActiveRun {
  const active = join(root, MARKER);
  return {
    ...knownOf(fieldsIn(active)),
    layout: "bare",
    root,
    folder: join(root, "ralph"),
    ownPaths: [MARKER, "ralph/logs/", "ralph/blocked.txt", "ralph/decide.txt"],
    tasks: "ralph/tasks.json",
    commits: "agent",
    fingerprint: fingerprintOf(active),
  };
}

/** Damaged or not, the run is under way: what it does not tell is not known. */
function fieldsIn(path: string): Fields {
  return fieldsOf(parsedJson(readText(path) ?? ""));
}

function knownOf(fields: Fields): Pick<ActiveRun, "mode" | "before" | "rules"> {
  const mode = fields["iteration_mode"] ?? fields["iterationMode"];
  const cap = numberOf(fields["review_cap"] ?? fields["reviewCap"]);
  return {
    mode: REVIEW_MODES.find((known) => known === mode) ?? null,
    before: readSnapshot(fields["snapshot"] ?? fields["preIterationSnapshot"]),
    rules: {
      cap: cap !== null && cap >= 0 ? cap : REVIEW_CAP,
      skipReview: (fields["skip_review"] ?? fields["skipReview"]) === true,
      story: textOf(fields["story"]),
    },
  };
}

function isInside(path: string): boolean {
  return !isAbsolute(path) && !path.split(/[/\\]/).includes("..");
}

function tasksIn(root: string, own: string): string | null {
  const places = [join(own, "tasks.json"), join(own, "prd.json"), "tasks.json", "prd.json"];
  return places.find((path) => existsSync(join(root, path))) ?? null;
}

function fingerprintOf(path: string): string {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return `${path} ${mtimeMs} ${readText(path) ?? ""}`;
}

/** What hooks remember from one call to the next: that something was done. */
interface HookMemory {
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

/** Undefined for what is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // others wrote it, and who asks knows what to do without
  }
}
