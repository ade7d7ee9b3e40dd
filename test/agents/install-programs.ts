import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { isAlive } from "../fixtures/is-alive.ts";

const MANIFEST = join(import.meta.dirname, "programs");
/** Below its own folder, since what is installed with Ralph itself is kept from agents. */
const CACHE = join(MANIFEST, "node_modules");
const INSTALL_MAX_MS = 600_000;
const LOOK_AGAIN_MS = 200;

/**
 * The folder of the real programs at their pinned versions, installed when it is not there yet. Its `bin` has
 * them by the names that a person would type.
 */
export async function installPrograms(): Promise<string> {
  const folder = join(CACHE, lockHash());
  mkdirSync(CACHE, { recursive: true });
  while (!existsSync(folder)) {
    const release = takeTurn(`${folder}.lock`);
    if (release === null) {
      await sleep(LOOK_AGAIN_MS);
      continue;
    }
    try {
      if (!existsSync(folder)) await installInto(folder);
    } finally {
      release();
    }
  }
  return folder;
}

/** This process's PATH without the programs of any repository: there, `node` and `npm` are the machine's. */
export function systemPath(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => !folder.split("/").includes("node_modules")).join(delimiter);
}

function lockHash(): string {
  const hash = createHash("sha256");
  for (const name of ["package.json", "package-lock.json"]) hash.update(readFileSync(join(MANIFEST, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Everything happens in a folder aside, so that a failure leaves nothing that looks installed. */
async function installInto(folder: string): Promise<void> {
  removeAbandoned();
  const aside = `${folder}.new-${process.pid}`;
  mkdirSync(aside);
  try {
    for (const name of ["package.json", "package-lock.json"]) {
      copyFileSync(join(MANIFEST, name), join(aside, name));
    }
    // The install scripts only put native programs in place of launchers, and the links below do the same.
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await promisify(execFile)("npm", args, { cwd: aside, env: npmEnvironment(), timeout: INSTALL_MAX_MS });
    linkPrograms(aside);
    renameSync(aside, folder);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    throw new Error(`the agent programs could not be installed from ${MANIFEST}`, { cause: error });
  }
}

/** What installs that were killed have left. */
function removeAbandoned(): void {
  for (const name of readdirSync(CACHE)) {
    const owner = /\.new-(\d+)$/.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner)))
      rmSync(join(CACHE, name), { recursive: true, force: true });
  }
}

/** The machine's own npm has its certificates; tests put HOME elsewhere, and npm needs the real one. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^NODE_ENV$/i.test(name));
  return { ...Object.fromEntries(own), PATH: systemPath(), HOME: userInfo().homedir };
}

function linkPrograms(folder: string): void {
  const platform = `${process.platform}-${process.arch}`;
  const targets: Readonly<Record<string, string>> = {
    claude: `@anthropic-ai/claude-code-${platform}/claude`,
    codex: ".bin/codex",
    gemini: ".bin/gemini",
    opencode: `opencode-${platform}/bin/opencode`,
    copilot: ".bin/copilot",
    "copilot-native": `@github/copilot-${platform}/copilot`,
    "claude-agent-acp": ".bin/claude-agent-acp",
    "codex-acp": ".bin/codex-acp",
  };
  mkdirSync(join(folder, "bin"));
  for (const [name, target] of Object.entries(targets)) {
    statSync(join(folder, "node_modules", target));
    symlinkSync(join("..", "node_modules", target), join(folder, "bin", name));
  }
}

/** Takes the lock file, and answers how to give it back; null while a living process has it. */
function takeTurn(lock: string): (() => void) | null {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return () => rmSync(lock, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  if (!isHeld(lock)) rmSync(lock, { force: true });
  return null;
}

function isHeld(lock: string): boolean {
  try {
    const holder = readFileSync(lock, "utf8");
    // An empty file is one whose holder is about to write its number.
    return holder === "" || isAlive(Number(holder));
  } catch {
    return false; // given back a moment ago
  }
}

if (import.meta.main) console.log(await installPrograms());
