import { findProgram } from "../process/process-table.ts";
import type { OwnFolder } from "../../core/agents.ts";
import { createHash } from "node:crypto";
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../../core/errors.ts";
import { isSecretVariable } from "../../core/redact.ts";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import type { SandboxSettings } from "../../core/settings.ts";
import { settingVariables } from "../git/git.ts";
import { PLACEHOLDERS } from "../git/steering.ts";
import { type AgentSandbox, type AgentStart, rememberMissing } from "../process/agent-sandbox.ts";
import { fileError } from "../process/atomic-file.ts";
import { textAt } from "../process/look-at.ts";
import { runProgram, gitInForeground } from "../process/supervise.ts";

export interface SandboxOptions extends SandboxedProject {
  readonly settings: SandboxSettings;
  /** Where agents of this project keep what they keep in their HOME, a folder for each. */
  readonly homes: string;
  /** What starts agents where they reach a list of hosts only. */
  readonly bridge: readonly string[];
  /** Who we are. */
  readonly user: { readonly uid: number; readonly gid: number };
}

export interface Sandbox extends AgentSandbox {
  /** Throws when no sandbox can be made here. */
  requireUsable(workspace: string, env: Readonly<Record<string, string>>): Promise<void>;
}

/** What an agent sees besides the machine's own programs. */
export function ownPlaces(options: SandboxOptions, start: AgentStart): readonly Place[] {
  const { env, belongings, workspace } = start;
  const home = homeOf(env, workspace);
  const inHome = (path: string): string => path.replace(/^~(?=\/|$)/, home);
  const kept = join(options.homes, folderName(start.agent));
  return withoutState(options, [
    ...privateHome(kept, home, belongings.folders),
    ...belongings.shows.filter((path) => existsSync(path)).map(shown),
    ...namedByVariables(env),
    ...options.settings.read.map((path) => shown(required(inHome(path), "read"))),
    ...options.settings.write.map((path) => writable(required(inHome(path), "write"))),
    ...projectPlaces(options, start),
  ]);
}

/** Where an agent believes to be at home, which must be a place that can be a private one. */
export function homeOf(env: Readonly<Record<string, string>>, workspace: string): string {
  const home = env["HOME"]?.replace(/(?<=.)\/+$/, "") ?? "";
  if (home.startsWith("/") && home !== "/" && !isInside(home, workspace)) return home;
  const why = isInside(home, workspace) ? `is in the workspace ${workspace}` : "is no folder of anybody's";
  throw new RalphError(
    "no-sandbox",
    `in a sandbox agents get a HOME of their own, and HOME (${home}) ${why}`,
    { hint: "set HOME to a folder outside, or run without: --no-sandbox" },
  );
}

function required(path: string, key: "read" | "write"): string {
  if (lstatSync(path, { throwIfNoEntry: false })) return path;
  throw new RalphError("no-sandbox", `"sandbox.${key}" names ${path}, which is not there`, {
    hint: "make it, or take it out of the configuration",
  });
}

/** Names may be whole commands. */
function folderName(agent: string): string {
  return encodeURIComponent(agent).replaceAll("%", "=").replace(/^\./, "=2E").slice(0, 200);
}

/** Finds a program outside of the workspace: an agent may have put anything in there. */
export function findOutside(name: string, workspace: string, env: NodeJS.ProcessEnv): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((path) => isAbsolute(path));
  const found = folders.map((path) => findProgram(name, "/", { PATH: path })).filter((path) => path !== null);
  return found.find((path) => !isInside(realpathSync(path), realpathSync(workspace))) ?? null;
}

/** Runs a program that should end well at once; answers what it complains of, null when it does not. */
export async function tryProgram(
  [program = "", ...args]: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string | null> {
  const { isWell, words } = await runProgram(program, args, { cwd, env, timeoutMs: PATIENCE_MS });
  return isWell ? null : stripEscapes(words).slice(0, WORDS_LENGTH);
}

const PATIENCE_MS = 10_000;
const WORDS_LENGTH = 300;

interface EnvironmentInside {
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the agent's own. */
  readonly own: RegExp;
  /** Those that the operator has named for it, though they look secret. */
  readonly named: readonly string[];
}

/** The environment without what leads out of the sandbox, and without secrets that are not this agent's. */
export function insideEnvironment({ env, own, named }: EnvironmentInside): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => {
    if (named.includes(name) || own.test(name) || OURS.test(name)) return true;
    return !LEADS_OUT.test(name) && (PROXY.test(name) || !isSecretVariable(name, value));
  });
  const inside = { ...Object.fromEntries(kept), TMPDIR: "/tmp" };
  // The keys are not there, and a commit that cannot be signed would fail.
  return { ...inside, ...settingVariables(inside, { "commit.gpgSign": "false", "tag.gpgSign": "false" }) };
}

/** The same without the operator's proxies, and whatever password is in them. */
export function withoutProxies(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !PROXY.test(name)));
}

/** Of these a container gets the values; of the rest its image has its own. */
export function namesForImage({ env, own, named }: EnvironmentInside): readonly string[] {
  const isWanted = (name: string): boolean =>
    named.includes(name) || own.test(name) || OURS.test(name) || PLAIN.test(name) || PROXY.test(name);
  const inside = insideEnvironment({ env, own, named });
  // Whoever starts the client adds these, and git refuses a count without them.
  return Object.keys({ ...inside, ...gitInForeground(inside) })
    .filter(isWanted)
    .toSorted();
}

const OURS = /^RALPH_(?!STATE$|QUEUE_)/;
const PLAIN = /^(?:HOME|TMPDIR|LANG|LANGUAGE|LC_.*|TZ|TERM|COLORTERM|NO_COLOR|CI|IS_SANDBOX|GIT_.*)$/;
const PROXY = /^(?:https?|all|no|ftp)_proxy$/i;
/** Sockets and folders of the operator's session, which are not there. */
const LEADS_OUT =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DOCKER_HOST|RALPH_STATE)$/;

/** What belongs to the project, whatever the agent. */
export interface SandboxedProject {
  /** Common to all its worktrees. */
  readonly gitDir: string;
  readonly ralphDir: string;
  /** Where our log is. */
  readonly stateFile: string;
  /** Further stores of objects that the operator's clone has. */
  readonly alternates: readonly string[];
  /** Of the agent's own program nobody need know, but ours is started on its side. */
  readonly ownPlaces: readonly string[];
}

type Workplace = Pick<AgentStart, "workspace" | "folder" | "promptFile" | "readsOnly">;

/** Programs and settings of the machine, which everybody may read; and places for what does not last. */
export function systemPlaces(): readonly Place[] {
  return [
    ...SYSTEM.flatMap(systemPlace),
    // Often links to where somebody else keeps them.
    ...["/etc/resolv.conf", "/etc/ssl/certs"].flatMap(realPlace),
    { is: "temporary", path: "/tmp" },
    { is: "temporary", path: "/var/tmp" },
  ];
}

const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix/store",
  "/gnu/store",
  "/run/current-system",
];

function systemPlace(path: string): readonly Place[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return [stats.isSymbolicLink() ? { is: "link", path, to: readlinkSync(path) } : shown(path)];
}

function realPlace(path: string): readonly Place[] {
  if (!existsSync(path)) return [];
  const real = realpathSync(path);
  return real === path ? [] : [shown(real)];
}

/** The workspace with its repository, and of what is ours as much as the agent's side needs. */
export function projectPlaces(project: SandboxedProject, place: Workplace): readonly Place[] {
  const { workspace, folder, promptFile, readsOnly = false } = place;
  const { ralphDir, ownPlaces } = project;
  const places = [
    ...ownPlaces.filter((path) => existsSync(path) && !isInside(path, workspace)).map(shown),
    // Hooks look there; a worktree has a copy of its own, which nobody reads.
    ...(existsSync(ralphDir) ? [isInside(ralphDir, workspace) ? writable(ralphDir) : shown(ralphDir)] : []),
    // Mounted by themselves, so that nothing else can take their place: we write there.
    ...(isInside(ralphDir, workspace) ? writtenIn(ralphDir).filter(isPlain).map(writable) : []),
    ...configurationIn(ralphDir, workspace).filter(isPlain).map(shown),
    writable(workspace),
    ...repositoryPlaces(project, workspace),
    ...(promptFile === null ? [] : [shown(promptFile)]),
  ];
  return [...(readsOnly ? places.map(({ path }) => shown(path)) : places), writable(folder)];
}

function writtenIn(ralphDir: string): readonly string[] {
  return ["logs", "interventions"].map((name) => join(ralphDir, name));
}

function configurationIn(ralphDir: string, workspace: string): readonly string[] {
  const own = ["ralph.toml", "ralph.json", "config.yaml", "prompts"].map((name) => join(ralphDir, name));
  return [...own, join(workspace, ".specflow", "config.yaml")];
}

/** What makes git start programs or look elsewhere. */
const STEERING = ["config", "hooks", "gitdir", ...PLACEHOLDERS.keys()];

/** All that a commit needs can be written, but nothing that makes git start programs or look elsewhere. */
function repositoryPlaces({ gitDir, alternates }: SandboxedProject, workspace: string): readonly Place[] {
  const link = join(workspace, ".git");
  const own = isInside(gitDir, link) ? null : linkedFrom(link);
  const steering = steeredDirs(gitDir, own).flatMap((dir) => STEERING.map((name) => join(dir, name)));
  return [
    writable(gitDir),
    // Inside, the worktrees of others are not there: git would tidy away what it knows of them.
    ...[join(gitDir, "worktrees")].filter(isPlain).map(shown),
    ...(own === null || own === gitDir ? [] : [writable(own)]),
    ...[...(own === null ? [] : [link]), ...steering].filter(isPlain).map(shown),
    ...alternates.map(shown),
  ];
}

function steeredDirs(gitDir: string, own: string | null): readonly string[] {
  return [...new Set([gitDir, ...(own === null ? [] : [own]), ...moduleDirs(join(gitDir, "modules"))])];
}

/** Git directories of submodules, however deep their names. */
function moduleDirs(folder: string): readonly string[] {
  const entries = isPlain(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [];
    return existsSync(join(path, "HEAD")) ? [path, ...moduleDirs(join(path, "modules"))] : moduleDirs(path);
  });
}

/** How many agents need a placeholder now: those beside each other share the git directory. */
const needed = new Map<string, number>();

/** Makes what is missing there for as long as an agent runs, so that it cannot; answers how to take it away again. */
export function holdPlaces({ gitDir, ralphDir }: SandboxedProject, workspace: string): () => void {
  const missing = configurationIn(ralphDir, workspace).filter(
    (path) => isInside(path, workspace) && !isPlain(path),
  );
  if (existsSync(ralphDir)) for (const path of writtenIn(ralphDir)) if (!isPlain(path)) makeFolder(path);
  const forget = rememberMissing(join(gitDir, "ralph"), missing);
  const dirs = steeredDirs(gitDir, linkedFrom(join(workspace, ".git")));
  // Git would make it at the first use, and then it would be the agent's.
  for (const dir of dirs) mkdirSync(join(dir, "hooks"), { recursive: true });
  const held = dirs.flatMap((dir) =>
    [...PLACEHOLDERS].map(([name, text]) => ({ path: join(dir, name), text })),
  );
  const ours = held.filter(({ path, text }) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined && existsSync(dirname(path))) writeFileSync(path, text, { flag: "wx" });
    return stats === undefined || (stats.isFile() && textAt(path) === text);
  });
  for (const { path } of ours) needed.set(path, (needed.get(path) ?? 0) + 1);
  return () => {
    forget();
    for (const { path } of ours) {
      const others = (needed.get(path) ?? 1) - 1;
      needed.set(path, others);
      if (others === 0) rmSync(path, { force: true });
    }
  };
}

/** The git directory that a worktree's `.git` names; null when that is none. */
function linkedFrom(link: string): string | null {
  const target = /^gitdir: (.+?)\n?$/s.exec(textAt(link) ?? "")?.[1];
  const path = target === undefined ? "" : resolve(dirname(link), target);
  return existsSync(path) ? realpathSync(path) : null;
}

/** Where a clone has the objects that it shares with others; to be asked before any agent, which could write there. */
export function alternatesOf(gitDir: string): readonly string[] {
  const lines = (textAt(join(gitDir, "objects", "info", "alternates")) ?? "").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(gitDir, "objects", line))
    .filter((path) => ["info", "pack"].every((name) => existsSync(join(path, name))));
}

/** The same, without what is our own: the state is never seen, wherever it lies. */
export function withoutState(
  { gitDir, stateFile }: SandboxedProject,
  places: readonly Place[],
): readonly Place[] {
  const folder = join(gitDir, "ralph");
  const isSeen = (path: string): boolean =>
    places.some((place) => "from" in place && place.from === place.path && isInside(path, place.path));
  const files = ["", "-wal", "-shm"].map((ending) => `${stateFile}${ending}`);
  const inSight = isInside(stateFile, folder) ? [] : files.filter((path) => isPlain(path) && isSeen(path));
  return [
    ...places,
    ...(existsSync(folder) ? [{ is: "empty", path: folder } as const] : []),
    ...inSight.map((path): Place => ({ is: "hidden", path })),
  ];
}

/** No link: what is put over one lands where it leads. */
function isPlain(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isSymbolicLink();
}

/** Certificates and settings that a variable names by their path. */
function namedByVariables(env: Readonly<Record<string, string>>): readonly Place[] {
  return NAME_FILES.flatMap((name) => {
    const path = env[name];
    return path?.startsWith("/") === true && existsSync(path) ? [shown(path)] : [];
  });
}

const NAME_FILES = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "GIT_CONFIG_GLOBAL",
];

export type Place =
  /** What lies at `from` outside. */
  | { readonly is: "shown" | "writable"; readonly path: string; readonly from: string }
  | { readonly is: "link"; readonly path: string; readonly to: string }
  /** A folder without anything, that stays so. */
  | { readonly is: "empty"; readonly path: string }
  /** A file that cannot be read. */
  | { readonly is: "hidden"; readonly path: string }
  /** A folder that is gone with the agent. */
  | { readonly is: "temporary"; readonly path: string };

export function shown(path: string): Place {
  return { is: "shown", path, from: path };
}

export function writable(path: string): Place {
  return { is: "writable", path, from: path };
}

/**
 * In an order in which each can be put into place: a folder before what is in it. Of two for the same path the last
 * counts, and what is there with its folder anyway is left out.
 */
export function arrange(places: readonly Place[]): readonly Place[] {
  const byPath = new Map(places.map((place) => [place.path, place]));
  const ordered = [...byPath.values()].toSorted((a, b) => depthOf(a.path) - depthOf(b.path));
  return ordered.filter((place) => !isThereAnyway(place, ordered));
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function isThereAnyway(place: Place, ordered: readonly Place[]): boolean {
  if (place.is !== "shown") return false;
  const around = ordered.findLast(({ path }) => path !== place.path && isInside(place.path, path));
  return around?.is === "shown" && join(around.from, relative(around.path, place.path)) === place.from;
}

function depthOf(path: string): number {
  return path.split(sep).filter((step) => step !== "").length;
}

/** Git's own files, without credentials: whoever commits needs a name, and what is to be ignored. */
const GIT_FILES = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/** The HOME of one agent in one project. It lasts, so that sessions can be resumed. */
export function privateHome(folder: string, home: string, owned: readonly OwnFolder[]): readonly Place[] {
  const from = join(folder, "home");
  const all = [{ path: home, shows: GIT_FILES, copies: [] }, ...owned];
  try {
    makeFolder(from);
    return [{ is: "writable", path: home, from }, ...all.flatMap((one) => placesOf(one, folder, home))];
  } catch (error) {
    throw fileError(error, folder);
  }
}

/** Only its owner may look into it. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function placesOf({ path, shows, copies }: OwnFolder, folder: string, home: string): readonly Place[] {
  const isAtHome = isInside(path, home);
  const from = isAtHome
    ? join(folder, "home", relative(home, path))
    : join(folder, "elsewhere", nameOf(path));
  makeWithoutLinks(from, folder);
  for (const name of copies) copyIfNewer(join(path, name), join(from, name));
  const there = shows.filter((name) => existsSync(join(path, name)));
  for (const name of shows) if (!there.includes(name)) removeTrace(join(from, name));
  return [
    ...(isAtHome ? [] : [{ is: "writable", path, from } as const]),
    ...there.map((name) => shown(join(path, name))),
  ];
}

/** What the agent has put there to lead us elsewhere is gone. */
function makeWithoutLinks(path: string, base: string): void {
  if (path === base) return;
  makeWithoutLinks(dirname(path), base);
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isDirectory()) rmSync(path);
  makeFolder(path);
}

function nameOf(path: string): string {
  return `${basename(path)}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}

function copyIfNewer(original: string, copy: string): void {
  const now = statSync(original, { throwIfNoEntry: false });
  if (now?.isFile() !== true) return;
  const before = lstatSync(copy, { throwIfNoEntry: false });
  // The agent owns its copy, and may have put a link there.
  if (before?.isFile() === true && before.mtimeMs >= now.mtimeMs) return;
  const draft = `${copy}.ralph-${process.pid}`;
  rmSync(draft, { force: true, recursive: true });
  copyFileSync(original, draft, constants.COPYFILE_EXCL);
  rmSync(copy, { force: true, recursive: before?.isDirectory() === true });
  renameSync(draft, copy);
}

/** What was shown once has left an empty file in its place, which would say something else than none. */
function removeTrace(path: string): void {
  const trace = lstatSync(path, { throwIfNoEntry: false });
  if (trace?.isFile() === true && trace.size === 0) rmSync(path);
}
