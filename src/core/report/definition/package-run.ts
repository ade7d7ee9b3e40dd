import type { Word } from "./shell-words.ts";

/** Which script of which package a package manager is asked to run. */
export interface PackageRun {
  /** As it was written, relative to where the command runs. */
  readonly folder: string;
  readonly script: string;
}

interface Manager {
  /** Options that name the folder of the package. */
  readonly folder: readonly string[];
  /** Options and words that lead to other packages, which cannot be known from here. */
  readonly elsewhere: readonly string[];
  /** Other options that are followed by a value. */
  readonly valued: readonly string[];
  /** Short ways to write `run SCRIPT`. */
  readonly short: Readonly<Record<string, string>>;
  /** Its own commands; any other word is a script. Null: only the short ways are. */
  readonly own: readonly string[] | null;
}

const COMMON = ["install", "i", "add", "remove", "exec", "dlx", "why", "link", "publish", "init", "create"];
const NPM: Manager = {
  folder: ["--prefix", "-C"],
  elsewhere: ["-w", "--workspace", "-ws", "--workspaces"],
  valued: ["--loglevel", "--script-shell", "--userconfig"],
  short: { test: "test", t: "test", tst: "test", start: "start", stop: "stop" },
  own: null,
};
const MANAGERS: ReadonlyMap<string, Manager> = new Map([
  ["npm", NPM],
  [
    "yarn",
    {
      folder: ["--cwd"],
      elsewhere: ["workspace", "workspaces"],
      valued: [],
      short: {},
      own: [...COMMON, "upgrade", "up", "cache", "config", "set", "node", "npm", "pack", "info"],
    },
  ],
  [
    "pnpm",
    {
      folder: ["-C", "--dir"],
      elsewhere: ["-F", "--filter", "-r", "--recursive", "-w", "--workspace-root", "recursive"],
      valued: [],
      short: { t: "test", tst: "test" },
      own: [
        ...COMMON,
        "update",
        "up",
        "store",
        "audit",
        "list",
        "ls",
        "outdated",
        "prune",
        "fetch",
        "deploy",
      ],
    },
  ],
  [
    "bun",
    {
      folder: ["--cwd"],
      elsewhere: ["--filter", "-F"],
      valued: ["-r", "--preload", "--env-file", "--config", "-c"],
      short: {},
      own: [...COMMON, "x", "test", "build", "pm", "update", "upgrade", "repl", "outdated", "audit"],
    },
  ],
]);

export function isPackageManager(program: string): boolean {
  return MANAGERS.has(program);
}

/** What the arguments of a package manager run; null when that is no script of this package. */
export function packageRun(program: string, args: readonly Word[]): PackageRun | null {
  const manager = MANAGERS.get(program) ?? NPM;
  const read = readArguments(manager, args);
  if (read === null) return null;
  const { folder, words } = read;
  const [verb = "", operand] = words;
  const isRun = verb === "run" || verb === "run-script";
  const script = isRun ? operand : scriptOf(manager, verb);
  return script === undefined || script === "" ? null : { folder, script };
}

function scriptOf({ short, own }: Manager, verb: string): string | undefined {
  if (Object.hasOwn(short, verb)) return short[verb];
  return own === null || own.includes(verb) ? undefined : verb;
}

function readArguments(
  manager: Manager,
  args: readonly Word[],
): { readonly folder: string; readonly words: readonly string[] } | null {
  const words: string[] = [];
  let folder = ".";
  for (let at = 0; at < args.length; at += 1) {
    const { text, isKnown } = args[at] ?? { text: "", isKnown: false };
    if (text === "--") break;
    const [option = "", value] = text.startsWith("--") ? text.split("=", 2) : [text];
    if (manager.elsewhere.includes(option)) return null;
    if (manager.folder.includes(option)) {
      const next = value === undefined ? args[at + 1] : { text: value, isKnown };
      if (next === undefined || !next.isKnown) return null;
      folder = next.text;
      if (value === undefined) at += 1;
    } else if (manager.valued.includes(text)) at += 1;
    else if (!text.startsWith("-")) {
      if (!isKnown) break;
      words.push(text);
      // What follows the name of the script belongs to the script, except with npm.
      if (manager.own !== null && (words.length === 2 || text !== "run")) break;
    }
  }
  return { folder, words };
}
