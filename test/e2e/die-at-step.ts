// Loaded into ralph before its first line (`node --import`): counts what it does to the world outside, git, files
// and log, and ends it with SIGKILL at one of these steps.
import childProcess from "node:child_process";
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { removeOne, watchFinely } from "./die-at-fine-step.ts";

/** What is to happen, as the environment says it. */
export interface Death {
  /** The number of the step, from 1; 0: never. */
  readonly step: number;
  /**
   * In the middle: a process that was started is still running, of what is removed some is gone, of what is written some
   * is there. Other steps have no middle.
   */
  readonly when: "before" | "half-way";
  /** Steps are written there, one a line. */
  readonly log: string;
  /** Only what is done to files below it counts. */
  readonly folder: string;
  /** What takes the place of the hooks that ralph switches off. */
  readonly hooks: string | null;
  /** Counts also what is done to `.ralph/`, each write to an open file, and each statement of the database by itself. */
  readonly fine: boolean;
}

const CHANGES = [
  "mkdir",
  "mkdtemp",
  "rm",
  "rmdir",
  "unlink",
  "rename",
  "writeFile",
  "copyFile",
  "symlink",
] as const;

const death = JSON.parse(process.env["DEATH"] ?? "null") as Death | null;
const hasNamespaces = process.env["NO_NAMESPACES"] === undefined;
for (const name of ["NODE_OPTIONS", "DEATH", "NO_NAMESPACES"]) delete process.env[name];
if (!hasNamespaces) refuseNamespaces();
if (death !== null) await watch(death);

/** As on a machine that allows none. */
function refuseNamespaces(): void {
  const { execFile } = childProcess;
  const refusing = (program: string, ...rest: unknown[]): unknown =>
    (execFile as unknown as Functions[string])(program.endsWith("/unshare") ? "false" : program, ...rest);
  childProcess.execFile = refusing as unknown as typeof execFile;
  syncBuiltinESMExports();
}

async function watch(death: Death): Promise<void> {
  const log = fs.openSync(death.log, "a");
  const write = fs.writeSync;
  let count = 0;
  const isDue = (what: string): boolean => {
    count += 1;
    write(log, `${what.replaceAll(/\s+/g, " ")}\n`);
    return count === death.step;
  };
  watchProcesses(death, isDue);
  if (death.fine) await watchFinely(death, isDue, die);
  else {
    watchFiles(death, isDue);
    watchLog(isDue);
  }
  syncBuiltinESMExports();
}

export type IsDue = (what: string) => boolean;

function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;); // the signal comes at once
}

function watchProcesses({ when, hooks, fine }: Death, isDue: IsDue): void {
  const { spawn, execFile } = childProcess;
  const watchedFile = (program: string, args: readonly string[], ...rest: unknown[]): unknown => {
    const isNow = isDue(`${program} ${args.join(" ")}`);
    if (isNow && when === "before") die();
    const child = (execFile as unknown as Functions[string])(program, args, ...rest);
    if (isNow) die();
    return child;
  };
  if (fine) childProcess.execFile = watchedFile as unknown as typeof execFile;
  const watched = (command: string, args: readonly string[], options: childProcess.SpawnOptions): unknown => {
    const isNow = isDue(
      `${command} ${args.filter((arg, at) => arg !== "-c" && args[at - 1] !== "-c").join(" ")}`,
    );
    const hasMiddle = fine || command !== "git";
    if (isNow && !(hasMiddle && when === "half-way")) die();
    const ours =
      hooks === null ? args : args.map((arg) => arg.replace(/^(core\.hooksPath)=.*/, `$1=${hooks}`));
    const env = { ...options.env, VICTIM: `${process.pid}`, ...(isNow && { LINGER: "1" }) };
    const child = spawn(command, [...ours], { ...options, env });
    if (isNow) die();
    return child;
  };
  childProcess.spawn = watched as typeof spawn;
}

function watchFiles({ when, folder }: Death, isDue: IsDue): void {
  const meets = (name: string, path: unknown): void => {
    const text = String(path);
    if (!text.startsWith(folder) || text.includes("/.ralph/")) return;
    if (!isDue(`${name} ${text.slice(folder.length)}`)) return;
    if (when === "half-way" && name === "rm") removeOne(text);
    die();
  };
  for (const name of CHANGES) {
    replace(fs, `${name}Sync`, (path) => meets(name, path));
    replace(fs.promises, name, (path) => meets(name, path));
  }
}

type Functions = Record<string, (...args: unknown[]) => unknown>;

function replace(holder: object, name: string, first: (...args: unknown[]) => void): void {
  const functions = holder as Functions;
  const original = functions[name]!;
  functions[name] = function (this: unknown, ...args) {
    first(...args);
    return original.apply(this, args);
  };
}

function watchLog(isDue: IsDue): void {
  const require = createRequire(import.meta.url);
  const { prototype } = require("better-sqlite3") as { prototype: Functions };
  const { transaction } = prototype;
  prototype["transaction"] = function (this: unknown, work) {
    return transaction!.call(this, (...args: unknown[]) => {
      const result = (work as (...args: unknown[]) => unknown)(...args);
      const events = Array.isArray(result) ? (result as { type: string }[]) : [];
      if (events.length > 0 && isDue(`log ${events.map(({ type }) => type).join(" ")}`)) die();
      return result;
    });
  };
}
