import { readState } from "../../app/project-log.ts";
import { openProject, requirePerson } from "../../app/project.ts";
import { knownWorktrees } from "../../app/git-parts.ts";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { columns } from "../print/style.ts";
import { taskState, type State } from "../../core/state.ts";
import type { WorktreeEntry } from "../../engine/parallel-ports.ts";

interface Flags {
  readonly clean?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--clean", "remove those whose work is merged")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => worktrees(flags, context)));
}

async function worktrees(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const known = knownWorktrees(project);
  const state = await readState(project);
  if (flags.clean === true) {
    requirePerson(project, "remove worktrees");
    for (const { task } of await known.list()) if (isMerged(state, task)) await known.remove(task);
  }
  const left = await known.list();
  const entries = left.map((one) => shown(one, state));
  if (flags.json === true) context.stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
  else if (left.length === 0) context.stdout.write("No worktrees.\n");
  else for (const line of columns(left.map((one) => rowOf(one, state)))) context.stdout.write(`${line}\n`);
  return 0;
}

function isMerged(state: State, task: string): boolean {
  return taskState(state, task).merge?.is === "merged";
}

function rowOf(entry: WorktreeEntry, state: State): readonly string[] {
  const words = [
    isMerged(state, entry.task) ? "merged" : "not merged",
    ...(entry.isDirty ? ["uncommitted work"] : []),
  ];
  return [entry.task, entry.branch, words.join(", "), entry.root];
}

function shown({ task, branch, root, head, isDirty }: WorktreeEntry, state: State): Record<string, unknown> {
  return { task, branch, root, head, dirty: isDirty, merged: isMerged(state, task) };
}
