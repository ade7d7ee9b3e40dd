import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";
import { ROOT } from "./code-blocks.ts";
import { SCENES, type Scene } from "./scenes.ts";

/** A throw-away repository in which lines of the documentation are typed, with the built program on the PATH. */
export interface PlayProject {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Types the lines into one shell; answers what each printed, and its exit code. */
  type(lines: readonly string[]): Promise<readonly Screen[]>;
  /** The same repository once more, as it is now. */
  copy(): PlayProject;
  dispose(): void;
}

export interface Screen {
  readonly text: string;
  readonly exitCode: number;
}

/** Stands before and after the exit code of a line. */
const END = "\u0001";

/** A fresh one of this name. What takes time to get ready is made once, and copied. */
export async function createPlayProject(name: string): Promise<PlayProject> {
  const scene = SCENES[name];
  if (scene === undefined)
    throw new Error(`there is no project ${name}; known: ${Object.keys(SCENES).join(", ")}`);
  if (scene.typed === undefined) return prepare(scene);
  const original = kept.get(name) ?? prepare(scene);
  kept.set(name, original);
  return (await original).copy();
}

const kept = new Map<string, Promise<PlayProject>>();

export async function disposeKept(): Promise<void> {
  for (const project of kept.values()) (await project).dispose();
}

async function prepare({ files, typed = [] }: Scene): Promise<PlayProject> {
  const project = playIn(freshFolder());
  for (const [path, text] of Object.entries(files)) project.write(path, text);
  await project.type([
    "git init --quiet --template= --initial-branch=main .",
    "git add --all && git commit --quiet --message start",
    ...typed,
  ]);
  return project;
}

function freshFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "ralph-docs-")));
}

function playIn(folder: string): PlayProject & { write(path: string, text: string): void } {
  const [home, bin, work] = [join(folder, "home"), join(folder, "bin"), join(folder, "work")];
  for (const path of [home, bin, work]) mkdirSync(path, { recursive: true });
  symlinkSync(join(ROOT, "bin", "ralph"), join(bin, "ralph"));
  const env = {
    ...environmentOf("TMPDIR", "NODE_COMPILE_CACHE"),
    PATH: `${bin}:${pathWithoutAgents(join(folder, "programs"))}`,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "You",
    GIT_AUTHOR_EMAIL: "you@example.com",
    GIT_COMMITTER_NAME: "You",
    GIT_COMMITTER_EMAIL: "you@example.com",
  };
  return {
    folder: work,
    env,
    write(path, text) {
      mkdirSync(dirname(join(work, path)), { recursive: true });
      writeFileSync(join(work, path), text);
    },
    async type(lines) {
      const script = lines.map((line) => `${line}\nprintf '%s%s%s' '${END}' $? '${END}'`).join("\n");
      const parts = (await shell(`exec 2>&1 </dev/null\n${script}`, work, env)).split(END);
      const texts = parts.filter((_, at) => at % 2 === 0).slice(0, -1);
      return texts.map((text, at) => ({ text, exitCode: Number(parts[2 * at + 1]) }));
    },
    copy() {
      const other = freshFolder();
      cpSync(work, join(other, "work"), { recursive: true });
      return playIn(other);
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function shell(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    execFile("bash", ["-c", script], { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (_, stdout) =>
      resolve(stdout),
    );
  });
}

function environmentOf(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
