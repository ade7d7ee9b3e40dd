import { basename } from "node:path";
import type { ListFile, Project } from "../../compose.ts";
import { hasLog } from "../../compose.ts";
import type { Event } from "../../core/events.ts";
import { isOpen } from "../../core/loop/state.ts";
import { sameSource } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { withLog } from "../project-state.ts";
import type { ListToArchive } from "./list-to-archive.ts";

/** Its tasks begin anew: another list may use their ids. A run that died would otherwise go on with it. */
export async function recordArchived(project: Project, { state, tasks }: ListToArchive): Promise<void> {
  const ended: Event[] = isOpen(state.run)
    ? [
        {
          type: "run.ended",
          run: state.run.id,
          outcome: "stopped",
          reason:
            project.queue === null ? "its process died, and the list was archived" : "the list was archived",
        },
      ]
    : [];
  const reset = tasks.map((task): Event => ({ type: "task.reset", task }));
  await append(project, [...ended, ...reset]);
}

/** What is in place now: no letter, and the fresh list where the last run had the old one. */
export async function recordFresh(
  project: Project,
  { state, tasks, opened }: ListToArchive,
  files: readonly { readonly file: ListFile }[],
): Promise<void> {
  const letters = files.filter(({ file }) => file.role === "letter");
  const moved = new Set(letters.map(({ file }) => basename(file.path)));
  const withdrawn = tasks.flatMap((task): Event[] => {
    const letter = state.tasks[task]?.letter?.file;
    const isMoved = letter !== undefined && moved.has(letter);
    return isMoved ? [{ type: "letter.withdrawn", task, file: letter }] : [];
  });
  const observed: Event[] = [];
  const { run } = state;
  if (run !== null && opened !== null && sameSource(run.settings.source, opened.identity)) {
    const plan = await freshPlan(opened);
    if (plan !== null) observed.push({ type: "tasks.observed", run: run.id, plan });
  }
  await append(project, [...withdrawn, ...observed]);
}

async function freshPlan(source: NonNullable<ListToArchive["opened"]>): Promise<ListToArchive["plan"]> {
  try {
    return await source.observe();
  } catch (error) {
    if (error instanceof RalphError) return null; // the next run says what is wrong with it
    throw error;
  }
}

async function append(project: Project, events: readonly Event[]): Promise<void> {
  if (events.length === 0 || !hasLog(project)) return;
  await withLog(project, (log) => log.append(events));
}
