import type { FieldEdit } from "../../src/core/review/story-review.ts";
import { compareTasks } from "../../src/core/plan-checks.ts";
import { plainTask, type Task } from "../../src/core/plan.ts";
import { RalphError } from "../../src/core/errors.ts";
import { readStories } from "../../src/core/review/story-review.ts";
import type { OperatorsList, PutBackRequest, Stories, TaskSource } from "../../src/engine/ports.ts";
import { CHECKLIST, withMark } from "./checklist-text.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { parsedText, rawIn, textOf, type Guarded, type StoryFile } from "./story-file.ts";
import type { World } from "./world.ts";

export const SOURCE = { kind: "checklist", label: CHECKLIST, path: CHECKLIST } as const;

export const STORY_SOURCE = { kind: "tasks-json", label: "tasks.json", path: "tasks.json" } as const;

export function simulatedSource(world: World, facts: DurableFacts): TaskSource {
  if (world.lanes !== null) return sharedChecklist(world);
  return world.stories === null ? checklist(world, facts) : storySource(world, world.stories, facts);
}

/** A file of the repository, of which every worktree has a copy; marks come to it with merges alone. */
function sharedChecklist(world: World): TaskSource {
  return {
    identity: SOURCE,
    files: [{ path: SOURCE.path, isAgents: false }],
    observe: async () => ({ source: SOURCE, tasks: world.plan() }),
    demands: async () => ({ checks: [], branch: null }),
    mark: async (id) => world.violate(`${id} was marked in the user's checkout`),
    markedIn: (bytes, id, isDone) => Buffer.from(withMark(bytes.toString(), id, isDone)),
  };
}

function checklist(world: World, facts: DurableFacts): TaskSource {
  return {
    identity: SOURCE,
    files: [{ path: SOURCE.path, isAgents: false }],
    observe: () => Promise.resolve({ source: SOURCE, tasks: world.plan() }),
    demands: () => Promise.resolve({ checks: [], branch: null }),
    mark: (id) => {
      const task = world.tasks.find((one) => one.id === id);
      if (task === undefined) return Promise.resolve();
      checkMark(world, facts, id);
      task.ticked = true;
      return Promise.resolve();
    },
    markedIn: (bytes) => bytes,
    list: simulatedList(world.guarded, {
      copy: () => world.tasks.map(({ id, ticked, isListed }) => ({ id, ticked, isListed })),
      put: (kept) => {
        for (const { id, ...shown } of kept) Object.assign(world.truth(id), shown);
      },
      settle: (kept) => kept,
      tasks: (entries) =>
        entries
          .filter(({ isListed }) => isListed)
          .map(({ id, ticked }) => plainTask({ id, title: `Task ${id}`, done: ticked })),
    }),
  };
}

function storySource(world: World, file: StoryFile, facts: DurableFacts): TaskSource {
  return {
    identity: STORY_SOURCE,
    files: [{ path: STORY_SOURCE.path, isAgents: false }],
    observe: async () => ({ source: STORY_SOURCE, tasks: file.tasks() }),
    demands: async () => ({ checks: [], branch: null }),
    mark: async (id) => {
      if (file.review(id) === undefined) return;
      checkMark(world, facts, id);
      rewrite(file, [{ story: id, field: "passes", value: true }]);
    },
    markedIn: (bytes) => bytes,
    list: simulatedList(file.guarded, {
      copy: () => file.text ?? "",
      put: (kept) => file.write(kept),
      settle: (kept, seen, settle) => edited(kept, settle?.(parsedText(seen)) ?? []),
      tasks: tasksIn,
    }),
    stories: {
      edit: async (edits) => {
        checkEdits(world, facts, edits);
        rewrite(file, edits);
      },
    } satisfies Stories,
  };
}

interface ListHands<Version> {
  copy(): Version;
  put(version: Version): void;
  /** What is to stand there, by what an agent made of it. */
  settle(kept: Version, seen: Version, settle: PutBackRequest["settle"]): Version;
  tasks(version: Version): readonly Task[];
}

/** As the real one it keeps the versions outside of the process. */
function simulatedList<Version>(guarded: Guarded<Version>, hands: ListHands<Version>): OperatorsList {
  const isSame = (a: Version, b: Version): boolean => JSON.stringify(a) === JSON.stringify(b);
  return {
    read: () => Promise.reject(new Error("stories are reviewed in place here")),
    keep: async () => {
      guarded.kept = hands.copy();
      guarded.seen = null;
    },
    see: async () => {
      const now = hands.copy();
      guarded.seen = guarded.kept === null || isSame(now, guarded.kept) ? null : now;
      return false;
    },
    putBack: async ({ settle }) => {
      const { kept, seen } = guarded;
      if (kept === null) return [];
      const target = hands.settle(kept, seen ?? kept, settle);
      if (seen === null || isSame(seen, target)) return [];
      hands.put(target);
      const changes = compareTasks(hands.tasks(target), hands.tasks(seen));
      return changes.length > 0 ? changes : [{ is: "other", what: "changed text that is no task" }];
    },
  };
}

function tasksIn(text: string): readonly Task[] {
  const { stories } = readStories(parsedText(text));
  return stories.map((review) => plainTask({ id: review.id, title: review.id, done: review.passes, review }));
}

function edited(text: string, edits: readonly FieldEdit[]): string {
  if (edits.length === 0) return text;
  return textOf(
    (rawIn(text) ?? []).map((story) =>
      edits.reduce(
        (one, { story: id, field, value }) => (one["id"] === id ? { ...one, [field]: value } : one),
        story,
      ),
    ),
  );
}

function rewrite(file: StoryFile, edits: readonly FieldEdit[]): void {
  if (file.text === null) return;
  if (file.parsed() === undefined) throw new RalphError("bad-tasks", "tasks.json: this is not JSON");
  file.write(edited(file.text, edits));
}

function checkMark(world: World, facts: DurableFacts, id: string): void {
  if (!facts.has("task.completed", id)) world.violate(`${id} was marked before its completion was recorded`);
  if (!world.countsAsDone(id)) world.violate(`${id} was marked done, and is not`);
}

/** We take a story a step further only when the log says so; what an agent did may always be taken back. */
function checkEdits(world: World, facts: DurableFacts, edits: readonly FieldEdit[]): void {
  for (const edit of edits) {
    if (edit.field !== "reviewStatus") continue;
    const settled = facts.settled(edit.story);
    const known = settled.at(-1)?.to ?? world.stories?.begun.get(edit.story)?.reviewStatus ?? null;
    if (edit.value !== known)
      world.violate(`${edit.story} was written as ${edit.value}, and the log says ${known}`);
  }
}
