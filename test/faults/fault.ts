import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Project } from "../e2e/project.ts";

/** Something that is wrong with the world around ralph for a while. */
export interface Fault {
  readonly name: string;
  /** Also in the check, as it needs neither root nor time. */
  readonly isQuick?: boolean;
  /** Some can only be brought about by root: real disks are mounted, permissions bind another user. */
  readonly needsRoot?: boolean;
  /** Some are a library in C, between the program and the kernel. */
  readonly needsCompiler?: boolean;
  /** Ralph runs as somebody whom permissions bind. */
  readonly asStranger?: boolean;
  /** What the agent does for its task while things are wrong; without it, its work. */
  readonly flood?: number;
  /** Answers what mends it. */
  readonly breaks: (project: Project) => () => void;
  /** Of the run that meets it; 0 where it is of no matter. */
  readonly code: number;
  /** What it says; nothing where it is of no matter. */
  readonly says: RegExp;
}

export const STRANGER = 65_534;

/** Full and read-only disks are real ones. */
export const canMount = process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "true"]).status === 0;

export const canCompile = process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0;

/** All writing to paths with these words fails. */
export function failWrites({ env, root }: Project, to: string, error: number): () => void {
  const library = join(root, "..", "failing-writes.so");
  const source = join(import.meta.dirname, "..", "fixtures", "failing-writes.c");
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  const ours = { LD_PRELOAD: library, RALPH_TEST_WRITES_TO: to, RALPH_TEST_ERRNO: String(error) };
  Object.assign(env, ours);
  return () => {
    for (const name of Object.keys(ours)) Reflect.deleteProperty(env, name);
  };
}

export function mountTmpfs(folder: string, options: string): () => void {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  return () => void execFileSync("umount", [folder]);
}

/** The same folder, and nobody can write to it. */
export function mountReadOnly(folder: string): () => void {
  execFileSync("mount", ["--bind", folder, folder]);
  execFileSync("mount", ["-o", "remount,bind,ro", folder]);
  return () => void execFileSync("umount", [folder]);
}
