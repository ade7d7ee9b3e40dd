import { randomUUID } from "node:crypto";
import { RalphError } from "../core/errors.ts";
import { type Acted, type OperatorAct, planAct } from "../core/loop/operator-act.ts";
import { EMPTY_STATE } from "../core/state.ts";
import type { TaskId } from "../core/plan.ts";
import { actAsOperator } from "../engine/operator.ts";
import type { Log } from "../engine/ports.ts";
import { hasLog, refreshStatus, withLog } from "./project-log.ts";
import { isDriven, type Project, requirePerson } from "./project.ts";
import type { UndoOptions } from "./take-back.ts";

/** Everything that a person may do: about a run, or about the work that it has left. */
export type ProjectAct =
  | OperatorAct
  | { readonly do: "discard"; readonly task: TaskId }
  /** Null: what was accepted last. */
  | ({ readonly do: "undo"; readonly task: TaskId | null } & UndoOptions);

/** What an agent is told that it may not do. */
const IN_WORDS: Readonly<Record<ProjectAct["do"], string>> = {
  decide: "answer questions",
  steer: "send messages",
  cancel: "cancel tasks",
  unblock: "unblock tasks",
  stop: "stop the run",
  retry: "end the wait of a run",
  approve: "approve work",
  "send-back": "send work back",
  skip: "skip tasks",
  pause: "pause the run",
  resume: "resume the run",
  discard: "discard work",
  undo: "take accepted work back",
};

interface ActOptions {
  /** The project's log, where it is open already. */
  readonly log?: Log | null;
  /** Of a message. */
  readonly id?: string;
}

/** The one door for acts: the command line, the terminal screen, the page and the library come through here. */
export async function act(
  project: Project,
  wanted: ProjectAct,
  { log: opened = null, id = randomUUID().slice(0, 8) }: ActOptions = {},
): Promise<Acted> {
  requirePerson(project, IN_WORDS[wanted.do]);
  if (wanted.do === "discard") return (await import("./take-back.ts")).discard(project, wanted.task);
  if (wanted.do === "undo") return (await import("./take-back.ts")).undo(project, wanted.task, wanted);
  const around = {
    isDriven: await isDriven(project),
    isShared: project.queue !== null,
    id,
    listed:
      (wanted.do === "steer" && wanted.task !== null) || wanted.do === "skip"
        ? await listedTasks(project)
        : [],
  };
  // A first message and a task to skip may begin the log.
  const unasked = hasLog(project) ? null : planAct(EMPTY_STATE, wanted, around);
  if (unasked?.is === "refused") return unasked;
  const record = (log: Log): Promise<Acted> => actAsOperator(log, wanted, around);
  const acted = opened !== null ? await record(opened) : await withLog(project, record);
  if (acted.is === "done") await refreshStatus(project);
  return acted;
}

/** The same for a caller that wants an error where an act is refused. */
export async function mustAct(project: Project, wanted: ProjectAct, options?: ActOptions): Promise<string> {
  return wordsIfDone(await act(project, wanted, options));
}

export function wordsIfDone(acted: Acted): string {
  if (acted.is === "done") return acted.said;
  throw new RalphError("usage", acted.why, { ...(acted.hint !== undefined && { hint: acted.hint }) });
}

/** The tasks of the configured list as it is now; none where it cannot be read. */
export async function listedTasks(project: Project): Promise<readonly TaskId[]> {
  try {
    const { readTasks } = await import("./task-lists.ts");
    return (await readTasks(project)).map(({ id }) => id);
  } catch (error) {
    if (error instanceof RalphError) return [];
    throw error;
  }
}
