import { readState } from "../../app/project-log.ts";
import { openProject, requirePerson } from "../../app/project.ts";
import { knownWorktrees } from "../../app/git-parts.ts";
import type { Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { columns } from "../print/style.ts";
import { taskState, type State } from "../../core/state.ts";
import type { WorktreeEntry } from "../../engine/parallel-ports.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--clean", "remove those whose work is merged")
    .option("--json", "print JSON")
    .action(act(worktrees));
}

async function worktrees(context: CliContext, { clean }: { clean?: boolean }): Promise<number> {
  const project = await openProject(context);
  const known = knownWorktrees(project);
  const state = await readState(project);
  if (clean === true) {
    requirePerson(project, "remove worktrees");
    for (const { task } of await known.list()) if (isMerged(state, task)) await known.remove(task);
  }
  const left = await known.list();
  const entries = left.map((one) => shown(one, state));
  return tell(context, entries, () => (left.length === 0 ? ["No worktrees."] : columns(entries.map(rowOf))));
}

function isMerged(state: State, task: string): boolean {
  return taskState(state, task).merge?.is === "merged";
}

function rowOf({ task, branch, merged, dirty, root }: ReturnType<typeof shown>): readonly string[] {
  const words = `${merged ? "merged" : "not merged"}${dirty ? ", uncommitted work" : ""}`;
  return [task, branch, words, root];
}

function shown({ task, branch, root, head, isDirty }: WorktreeEntry, state: State) {
  return { task, branch, root, head, dirty: isDirty, merged: isMerged(state, task) };
}
