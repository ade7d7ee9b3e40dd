import { isDriven, type Project } from "../compose.ts";
import { isOpen, type State } from "../core/loop/state.ts";
import type { TaskId } from "../core/plan/task.ts";

/** Who takes up a task that waited for a person, or what to type. */
export async function whoGoesOn(project: Project, { run, tasks }: State, task: TaskId): Promise<string> {
  const runs = project.queue === null ? RUN : WORKERS;
  if (!isOpen(run)) return runs.begin;
  if (!(await isDriven(project))) return runs.goOn;
  const only = run.settings.onlyTasks;
  const isLeftAlone =
    run.stop !== null || (only !== null && !only.includes(task)) || tasks[task]?.exhaustedIn === run.id;
  return isLeftAlone ? runs.leavesIt : runs.takesIt;
}

const RUN = {
  begin: "go on: ralph run",
  goOn: "go on: ralph run",
  takesIt: "the run that is on takes it up",
  leavesIt: "the run that is on does not take it up; after it: ralph run",
};

const WORKERS = {
  begin: "put it into the queue again: ralph submit",
  goOn: "no worker is here; start one: ralph worker",
  takesIt: "a worker takes it up",
  leavesIt: "the run that is on does not take it up; after it: ralph submit",
};
