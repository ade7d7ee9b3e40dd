import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mustRun } from "./samples.ts";

export const ROOT = join(import.meta.dirname, "..");
export const RALPH = join(ROOT, "bin", "ralph");

/** A repository with a checklist and an agent that does next to nothing, so that what is left is ours. */
export function sampleProject(tasks: number, agentCommand: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-bench-"));
  const boxes = Array.from({ length: tasks }, (_, index) => `- [ ] **task-${index + 1}**: make it\n`);
  const files = {
    "TODO.md": boxes.join(""),
    ".ralph/ralph.toml": `agent = "stub"\n[run]\nmax_iterations = ${tasks + 1}\n[agents.stub]\ncommand = ${JSON.stringify(agentCommand)}\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  mustRun("git", ["init", "-q", "-b", "main"], folder);
  mustRun("git", ["add", "-A"], folder);
  mustRun(
    "git",
    ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "-qm", "start"],
    folder,
  );
  return folder;
}
