import type { Plan, SourceIdentity, Task, TaskId } from "../../core/plan.ts";
import { redactAll } from "../../core/redact.ts";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import type { FieldEdit } from "../../core/review/story-review.ts";
import type { OperatorsList, TaskSource } from "../../engine/ports.ts";
import { createMemo, NO_DEMANDS } from "./task-format.ts";

/** Shows the source as the log will: a secret in the plan would otherwise differ at every look. */
export function redactingSource(
  source: TaskSource,
  redact: (text: string) => string,
  look: <Plan>(observe: () => Promise<Plan>) => Promise<Plan> = (observe) => observe(),
): TaskSource {
  const realIds = new Map<string, string>();
  const hide = (task: Task): Task => {
    // Titles are printed on terminals.
    const hidden = redactAll({ ...task, title: stripEscapes(task.title) }, redact);
    realIds.set(hidden.id, task.id);
    return hidden;
  };
  const hideAll = createMemo((tasks: readonly Task[]) => tasks.map(hide));
  const shown = (known: SourceIdentity) => ({ ...redactAll(known, redact), kind: known.kind });
  const realId = (id: TaskId): TaskId => realIds.get(id) ?? id;
  const realEdits = (edits: readonly FieldEdit[]): readonly FieldEdit[] =>
    edits.map((edit) => ({ ...edit, story: realId(edit.story) }));
  const { list, stories } = source;
  return {
    // A worker's source changes with every list that is submitted.
    get identity() {
      return source.identity;
    },
    get files() {
      return source.files;
    },
    observe: async () => ({
      source: shown(source.identity),
      tasks: hideAll((await look(() => source.observe())).tasks),
    }),
    demands: () => source.demands(),
    mark: (task, accepted) => source.mark(realId(task), accepted),
    markedIn: (file, task, isDone) => source.markedIn(file, realId(task), isDone),
    closingWords: (task) => source.closingWords?.(realId(task)) ?? null,
    ...(source.takeBackMarks && {
      takeBackMarks: async (done: ReadonlySet<TaskId>) =>
        ((await source.takeBackMarks?.(new Set([...done].map(realId)))) ?? []).map(redact),
    }),
    ...(list && { list: redactingList(list, redact, realEdits) }),
    ...(stories && { stories: { edit: (edits: readonly FieldEdit[]) => stories.edit(realEdits(edits)) } }),
  };
}

function redactingList(
  list: OperatorsList,
  redact: (text: string) => string,
  realEdits: (edits: readonly FieldEdit[]) => readonly FieldEdit[],
): OperatorsList {
  return {
    ...list,
    read: async () => redactAll(await list.read(), redact),
    putBack: async ({ settle, ...request }) => {
      const changes = await list.putBack({
        ...request,
        settle: settle && ((file) => realEdits(settle(redactAll(file, redact)))),
      });
      return redactAll(changes, redact);
    },
  };
}

const NOTHING: SourceIdentity = { kind: "goal", label: "", path: null };

/** The tasks as they were submitted: what lies in this clone's checkout does not count, and is left alone. */
export function submittedSource(
  submitted: () => { readonly identity: SourceIdentity; readonly plan: Plan } | null,
  open: (identity: SourceIdentity) => TaskSource,
): TaskSource {
  const identity = (): SourceIdentity => submitted()?.identity ?? NOTHING;
  return {
    get identity() {
      return identity();
    },
    get files() {
      return open(identity()).files;
    },
    observe: () => Promise.resolve(submitted()?.plan ?? { source: identity(), tasks: [] }),
    demands: async () => NO_DEMANDS,
    // Marks in a file come to the base with the merge.
    mark: (task, accepted) =>
      identity().path === null ? open(identity()).mark(task, accepted) : Promise.resolve(),
    markedIn: (file, task, isDone) => open(identity()).markedIn(file, task, isDone),
    closingWords: (task) => open(identity()).closingWords?.(task) ?? null,
  };
}
