import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInside, shown, writable, type Place } from "./place.ts";

/** What belongs to the project, whatever the agent. */
export interface SandboxedProject {
  /** Common to all its worktrees. */
  readonly gitDir: string;
  readonly ralphDir: string;
  /** Where our log is. */
  readonly stateFile: string;
  /** Of the agent's own program nobody need know, but ours is started on its side. */
  readonly ownPlaces: readonly string[];
}

/** Where one agent works. */
export interface Workplace {
  readonly workspace: string;
  /** Of the iteration. */
  readonly folder: string;
  /** Null when it reads none. */
  readonly promptFile: string | null;
}

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
  const { workspace, folder, promptFile } = place;
  const { ralphDir, ownPlaces } = project;
  return [
    ...ownPlaces.filter((path) => existsSync(path) && !isInside(path, workspace)).map(shown),
    // Hooks look there; a worktree has a copy of its own, which nobody reads.
    ...(existsSync(ralphDir) ? [isInside(ralphDir, workspace) ? writable(ralphDir) : shown(ralphDir)] : []),
    ...configurationIn(ralphDir, workspace).map(shown),
    writable(workspace),
    ...repositoryPlaces(project.gitDir, workspace),
    writable(folder),
    ...(promptFile === null ? [] : [shown(promptFile)]),
  ];
}

function configurationIn(ralphDir: string, workspace: string): readonly string[] {
  const own = ["ralph.toml", "ralph.json", "config.yaml", "prompts"].map((name) => join(ralphDir, name));
  return [...own, join(workspace, ".specflow", "config.yaml")].filter((path) => isPlain(path));
}

/**
 * Everything that a commit needs can be written. What makes git start programs, or look elsewhere, cannot: that
 * would be done outside, by whoever uses git there next.
 */
function repositoryPlaces(gitDir: string, workspace: string): readonly Place[] {
  const fixed = ["config", "hooks", "config.worktree"].map((name) => join(gitDir, name));
  const link = join(workspace, ".git");
  const own = isInside(gitDir, link) ? null : linkedFrom(link);
  const ofWorktree =
    own === null ? [] : [link, ...["commondir", "gitdir", "config.worktree"].map((name) => join(own, name))];
  return [
    writable(gitDir),
    // Inside, the worktrees of others are not there: git would tidy away what it knows of them.
    ...[join(gitDir, "worktrees")].filter(isPlain).map(shown),
    ...(own === null || own === gitDir ? [] : [writable(own)]),
    ...[...fixed, ...ofWorktree].filter(isPlain).map(shown),
    ...alternatesOf(gitDir).map(shown),
  ];
}

/** The git directory that a worktree's `.git` names; null when that is none. */
function linkedFrom(link: string): string | null {
  try {
    const target = /^gitdir: (.+?)\n?$/s.exec(readFileSync(link, "utf8"))?.[1];
    return target === undefined ? null : realpathSync(resolve(dirname(link), target));
  } catch {
    return null; // a folder, or nothing
  }
}

/** Where a clone has the objects that it shares with others. */
function alternatesOf(gitDir: string): readonly string[] {
  try {
    const lines = readFileSync(join(gitDir, "objects", "info", "alternates"), "utf8").split("\n");
    return lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => resolve(gitDir, "objects", line))
      .filter((path) => existsSync(path));
  } catch {
    return []; // almost nobody has any
  }
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
export function namedByVariables(env: Readonly<Record<string, string>>): readonly Place[] {
  return NAME_FILES.flatMap((name) => {
    const path = env[name];
    return path?.startsWith("/") === true && statSync(path, { throwIfNoEntry: false }) ? [shown(path)] : [];
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
