import type { FieldEdit } from "../../src/core/review/story-review.ts";
import { RalphError } from "../../src/core/ralph-error.ts";
import type { Stories, TaskSource } from "../../src/engine/ports.ts";
import { CHECKLIST, withMark } from "./checklist-text.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { textOf, type RawStory, type StoryFile } from "./story-file.ts";
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
    takeBackMarks: async () => [],
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
    takeBackMarks: (done) => {
      const wrong = world.tasks.filter((task) => task.ticked && !done.has(task.id));
      for (const task of wrong) task.ticked = false;
      return Promise.resolve(wrong.map((task) => task.id));
    },
  };
}

/** As the real one it knows the file as it was before the agent started, also when another process did that. */
function storySource(world: World, file: StoryFile, facts: DurableFacts): TaskSource {
  let lastGood: string | null = null;
  const restore = (): void => {
    if (lastGood !== null) file.write(lastGood);
  };
  return {
    identity: STORY_SOURCE,
    files: [{ path: STORY_SOURCE.path, isAgents: false }],
    observe: async () => {
      const tasks = file.tasks();
      lastGood = file.text;
      return { source: STORY_SOURCE, tasks };
    },
    demands: async () => ({ checks: [], branch: null }),
    mark: async (id) => {
      if (file.review(id) === undefined) return;
      checkMark(world, facts, id);
      rewrite(file, [{ story: id, field: "passes", value: true }]);
    },
    takeBackMarks: async (done) => {
      if (file.parsed() === undefined) restore();
      const wrong = file.reviews().filter(({ id, passes }) => passes && !done.has(id));
      rewrite(
        file,
        wrong.map(({ id }) => ({ story: id, field: "passes", value: false })),
      );
      return wrong.map(({ id }) => id);
    },
    markedIn: (bytes) => bytes,
    stories: {
      read: async () => file.parsed(),
      edit: async (edits, putBack) => {
        checkEdits(world, facts, edits);
        rewrite(file, edits, gone(file.kept, putBack));
      },
      keep: async () => {
        if (file.text !== null) file.kept = file.text;
      },
      restore: async () => {
        if (file.kept !== null) file.write(file.kept);
      },
    } satisfies Stories,
  };
}

interface GoneStory {
  readonly story: RawStory;
  /** The one that it stood behind. */
  readonly behind: unknown;
}

function gone(lastGood: string | null, ids: readonly string[]): readonly GoneStory[] {
  const { userStories } = JSON.parse(lastGood ?? textOf([])) as { userStories: readonly RawStory[] };
  return userStories
    .map((story, at) => ({ story, behind: userStories[at - 1]?.["id"] }))
    .filter(({ story }) => ids.includes(String(story["id"])));
}

function rewrite(file: StoryFile, edits: readonly FieldEdit[], putBack: readonly GoneStory[] = []): void {
  if (file.text === null) return;
  if (file.parsed() === undefined) throw new RalphError("bad-tasks", "tasks.json: this is not JSON");
  let stories = [...(file.raw() ?? [])];
  for (const { story, behind } of putBack) {
    if (stories.some(({ id }) => id === story["id"])) continue;
    const at = stories.findIndex(({ id }) => id === behind) + 1;
    stories = stories.toSpliced(at, 0, story);
  }
  for (const { story, field, value } of edits)
    stories = stories.map((one) => (one["id"] === story ? { ...one, [field]: value } : one));
  file.write(textOf(stories));
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
