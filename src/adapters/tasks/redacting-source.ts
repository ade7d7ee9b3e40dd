import type { Plan, SourceIdentity, Task } from "../../core/plan/task.ts";
import { redactAll } from "../../core/redact.ts";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import type { Stories, TaskSource } from "../../engine/ports.ts";
import { createMemo } from "./task-format.ts";

/** Shows the source as the log will: a secret in the plan would otherwise differ at every look. */
export function redactingSource(
  source: TaskSource,
  redact: (text: string) => string,
  look: <Plan>(observe: () => Promise<Plan>) => Promise<Plan> = (observe) => observe(),
): TaskSource {
  const realIds = new Map<string, string>();
  const hide = (task: Task): Task => {
    const id = redact(task.id);
    realIds.set(id, task.id);
    return {
      ...task,
      id,
      // It is printed on terminals.
      title: redact(stripEscapes(task.title)),
      phase: task.phase === null ? null : redact(task.phase),
      description: redact(task.description),
      success: task.success === null ? null : redact(task.success),
      criteria: task.criteria.map(redact),
      dependsOn: task.dependsOn.map(redact),
      agent: task.agent === null ? null : redact(task.agent),
      ...(task.labels && { labels: task.labels.map(redact) }),
      promise: task.promise === null ? null : redact(task.promise),
      ...(task.review && { review: redactAll(task.review, redact) }),
    };
  };
  const hideAll = createMemo((tasks: readonly Task[]) => tasks.map(hide));
  const shown = (known: SourceIdentity) => ({ ...redactAll(known, redact), kind: known.kind });
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
    mark: (task, accepted) => source.mark(realIds.get(task) ?? task, accepted),
    markedIn: (file, task, isDone) => source.markedIn(file, realIds.get(task) ?? task, isDone),
    takeBackMarks: async (done) =>
      (await source.takeBackMarks(new Set([...done].map((id) => realIds.get(id) ?? id)))).map(redact),
    closingWords: (task) => source.closingWords?.(realIds.get(task) ?? task) ?? null,
    ...(source.stories && { stories: redactingStories(source.stories, redact, realIds) }),
  };
}

function redactingStories(
  stories: Stories,
  redact: (text: string) => string,
  realIds: ReadonlyMap<string, string>,
): Stories {
  const realId = (id: string): string => realIds.get(id) ?? id;
  return {
    read: async () => redactAll(await stories.read(), redact),
    edit: (edits, putBack) =>
      stories.edit(
        edits.map((edit) => ({ ...edit, story: realId(edit.story) })),
        putBack.map(realId),
      ),
    keep: () => stories.keep(),
    restore: () => stories.restore(),
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
    demands: () => Promise.resolve({ checks: [], branch: null }),
    // Marks in a file come to the base with the merge.
    mark: (task, accepted) =>
      identity().path === null ? open(identity()).mark(task, accepted) : Promise.resolve(),
    markedIn: (file, task, isDone) => open(identity()).markedIn(file, task, isDone),
    closingWords: (task) => open(identity()).closingWords?.(task) ?? null,
    takeBackMarks: () => Promise.resolve([]),
  };
}
