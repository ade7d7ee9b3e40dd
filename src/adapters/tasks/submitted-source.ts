import type { Plan, SourceIdentity } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";

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
