import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BARE_ENV, mustRun } from "./samples.ts";

/** A repository that can be put back to where it began: making one of 100,000 files takes longer than to measure. */
export interface BenchRepository {
  readonly folder: string;
  /** As it was made, with these files committed on top, and everything warm. */
  reset(files: Readonly<Record<string, string>>): void;
  dispose(): void;
}

/** So many folders of so many files each, every file a line. */
export function makeRepository(folders: number, filesEach: number): BenchRepository {
  const folder = mkdtempSync(join(tmpdir(), "ralph-bench-"));
  const git = (...args: readonly string[]): string => mustRun("git", args, folder);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Bench");
  git("config", "user.email", "bench@localhost");
  execFileSync("git", ["fast-import", "--quiet"], {
    cwd: folder,
    env: BARE_ENV,
    input: fastImport(folders, filesEach),
  });
  git("tag", "made");
  return {
    folder,
    reset(files) {
      git("reset", "-q", "--hard", "made");
      git("clean", "-qffdx");
      rmSync(join(folder, ".git", "ralph"), { recursive: true, force: true });
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(folder, path, ".."), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
      git("add", "--all");
      git("commit", "-qm", "start");
      git("status");
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function fastImport(folders: number, filesEach: number): string {
  const lines = [
    "commit refs/heads/main",
    "committer Bench <bench@localhost> 1700000000 +0000",
    data("made"),
  ];
  for (let at = 0; at < folders; at += 1) {
    for (let file = 0; file < filesEach; file += 1) {
      const path = `folder-${at}/file-${file}.txt`;
      lines.push(`M 100644 inline ${path}`, data(`${path}\n`));
    }
  }
  return `${lines.join("\n")}\n`;
}

function data(text: string): string {
  return `data ${text.length}\n${text}`;
}
