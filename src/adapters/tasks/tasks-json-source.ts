import { planMistakes } from "../../core/plan/plan-mistakes.ts";
import { plainTask, type Task, type TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import {
  type FieldEdit,
  hasReviewFields,
  type ReviewField,
  UNTOUCHED,
  readStories,
} from "../../core/review/story-review.ts";
import type { TaskSource } from "../../engine/ports.ts";
import {
  type Complain,
  createPositions,
  type JsonArray,
  JsonError,
  type JsonNode,
  type JsonObject,
  MemberFields,
  memberOf,
  readJson,
} from "./read-json.ts";
import type { ListPlace } from "./operators-list.ts";
import { checkedTasks, createFormatSource, type Marked, type Marking, TaskFile } from "./task-format.ts";

/** Tasks in a `tasks.json` or `prd.json`. Only `passes` and the fields of the review cycle are ever written. */
export function createTasksJsonSource(place: ListPlace): TaskSource {
  const { path } = place;
  const stories = {
    read: (bytes: Buffer): unknown => (isJson(bytes) ? parsed(bytes) : undefined),
    edit: (bytes: Buffer, edits: readonly FieldEdit[]): Buffer => withFields(bytes, path, edits),
  };
  const source = createFormatSource(
    place,
    {
      kind: "tasks-json",
      read: (file) => {
        const { stories: found, checks, branch } = scanTasksJson(file, path);
        return { tasks: checkedTasks(withNotes(found, file), path), demands: { checks, branch } };
      },
      mark: markStories,
    },
    stories,
  );
  const file = new TaskFile(place);
  return {
    ...source,
    markedIn: (bytes, task, isDone) =>
      isDone ? source.markedIn(bytes, task, isDone) : reopenStory(bytes, path, task),
    stories: {
      edit: async (edits) => file.edit((bytes) => stories.edit(bytes, edits)),
    },
  };
}

/** Notes belong to the review state. Where no story has one, they are part of what the story says. */
function withNotes(stories: readonly Story[], bytes: Buffer): readonly Story[] {
  const read = readStories(parsed(bytes)).stories;
  const reviews = new Map(hasReviewFields(read) ? read.map((story) => [story.id, story]) : []);
  return stories.map(({ task, notes, ...rest }) => {
    const review = reviews.get(task.id);
    const description =
      notes === "" ? task.description : `${task.description}\n\nNotes: ${notes}`.trimStart();
    return { ...rest, notes, task: review === undefined ? { ...task, description } : { ...task, review } };
  });
}

function parsed(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
}

/** The file with these fields as wanted; all else byte for byte. A story that is not there is left alone. */
export function withFields(file: Buffer, path: string, edits: readonly FieldEdit[]): Buffer {
  return edits.reduce((before, { story, field, value }) => {
    const text = JSON.stringify(value);
    const nodes = findStories(before, path).filter(
      ({ id, node }) => id === story && !isSame(before, node, field, text),
    );
    // From the end, so that the places before it stay where they are.
    return nodes.reduceRight(
      (edited, { node }) => splice(edited, fieldEdit(edited, node, field, text)),
      before,
    );
  }, file);
}

function insertion(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

function isSame(file: Buffer, story: JsonObject, field: string, text: string): boolean {
  const value = memberOf(story, field)?.value;
  return value !== undefined && file.toString("utf8", value.start, value.end) === text;
}

/** The edit that sets one field of an object; a field that is not there comes after the last one. */
export function fieldEdit(file: Buffer, story: JsonObject, field: string, text: string): Edit {
  const member = memberOf(story, field);
  if (member !== null) return { start: member.value.start, end: member.value.end, text };
  // A story has an id, so there is a last member to go by.
  const last = story.members.at(-1);
  if (last === undefined) throw new Error("a story without members");
  const before = story.members.at(-2)?.value.end;
  const space = file.toString("latin1", before === undefined ? story.start + 1 : before, last.keyStart);
  const colon = file.toString("latin1", last.keyEnd, last.value.start);
  return insertion(last.value.end, `,${space.replace(/^\s*,/, "")}${JSON.stringify(field)}${colon}${text}`);
}

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function splice(file: Buffer, { start, end, text }: Edit): Buffer {
  return Buffer.concat([file.subarray(0, start), Buffer.from(text), file.subarray(end)]);
}

/** The file with `passes` as wanted in the stories that `isWanted` names, and their ids; all else byte for byte. */
export function markStories(file: Buffer, path: string, { isDone: passes, isWanted }: Marking): Marked {
  const changed = findStories(file, path)
    .filter(({ id, node }) => isWanted(id) && isPassed(node) !== passes)
    .map(({ id }) => id);
  const edits = changed.map((story) => ({ story, field: "passes", value: passes }) as const);
  return { file: withFields(file, path, edits), changed };
}

/** The file with the story to do again: neither passed nor reviewed. Fields that it has not are not added. */
export function reopenStory(file: Buffer, path: string, task: TaskId): Buffer {
  const { passes, reviewStatus, reviewCount } = UNTOUCHED;
  const edits = findStories(file, path)
    .filter(({ id }) => id === task)
    .flatMap(({ node }) =>
      Object.entries({ passes, reviewStatus, reviewCount })
        .filter(([field]) => memberOf(node, field) !== null)
        .map(([field, value]) => ({ story: task, field: field as ReviewField, value })),
    );
  return withFields(file, path, edits);
}

function isPassed(story: JsonObject): boolean {
  const value = memberOf(story, "passes")?.value;
  return value?.is === "scalar" && value.value === true;
}

/** A `tasks.json` as it was read; `path` is for messages. */
interface TasksJson {
  readonly branch: string | null;
  readonly checks: readonly string[];
  readonly stories: readonly Story[];
}

interface Story {
  readonly task: Task;
  readonly notes: string;
  readonly line: number;
  readonly node: JsonObject;
}

/** Reads and checks the whole file; what is wrong is named with its story and key. */
export function scanTasksJson(file: Buffer, path: string): TasksJson {
  const top = parse(file, path);
  const positionOf = createPositions(file);
  const bad = (at: number, problem: string): RalphError => {
    const { line, column } = positionOf(at);
    return new RalphError("bad-tasks", `${path}:${line}:${column}: ${problem}`);
  };
  if (top.is !== "object") throw bad(top.start, 'expected an object with "userStories"');
  const list = memberOf(top, "userStories");
  if (list === null) throw bad(top.start, '"userStories" is missing; expected a list of stories');
  if (list.value.is !== "array") throw bad(list.value.start, '"userStories" must be a list of stories');
  const fields = new MemberFields(top, "", bad);
  fields.text("project");
  fields.text("description");
  return {
    branch: fields.text("branchName").trim() || null,
    checks: fields.texts("verifyCommands").filter((command) => command.trim() !== ""),
    stories: list.value.items.map((node, at) => ({
      ...storyOf(node, at, bad),
      line: positionOf(node.start).line,
    })),
  };
}

/** The stories that have an id, whatever else is wrong with them. Throws only if the file is no JSON. */
export function findStories(file: Buffer, path: string): readonly { id: string; node: JsonObject }[] {
  return (storyList(parse(file, path))?.items ?? []).flatMap((node) => {
    const id = node.is === "object" ? idOf(node) : null;
    return node.is === "object" && id !== null ? [{ id, node }] : [];
  });
}

export function storyList(top: JsonNode): JsonArray | null {
  const list = top.is === "object" ? memberOf(top, "userStories")?.value : undefined;
  return list?.is === "array" ? list : null;
}

export function isJson(file: Buffer): boolean {
  try {
    readJson(file);
    return true;
  } catch {
    return false; // which is all that was asked
  }
}

export function parse(file: Buffer, path: string): JsonNode {
  try {
    return readJson(file);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { line, column } = createPositions(file)(error.offset);
    throw new RalphError("bad-tasks", `${path}:${line}:${column}: this is not JSON; ${error.message}`, {
      cause: error,
    });
  }
}

function storyOf(node: JsonNode, at: number, bad: Complain): Omit<Story, "line"> {
  if (node.is !== "object") throw bad(node.start, `userStories[${at}] must be an object`);
  const id = idOf(node);
  if (id === null) {
    const member = memberOf(node, "id");
    const problem = member === null ? "is missing" : "must be a text that is not empty";
    throw bad(member?.value.start ?? node.start, `userStories[${at}]: "id" ${problem}`);
  }
  const fields = new MemberFields(node, `story "${id}": `, bad);
  const title = fields.text("title").trim();
  if (title === "")
    throw bad(memberOf(node, "title")?.value.start ?? node.start, `story "${id}": "title" is missing`);
  fields.oneOf("changes", ["none"]);
  const labels = [...new Set(fields.texts("labels"))];
  const task = plainTask({
    id,
    title,
    description: fields.text("description"),
    criteria: fields.texts("acceptanceCriteria"),
    dependsOn: [...new Set(fields.texts("dependsOn"))],
    priority: fields.number("priority"),
    done: fields.yes("passes"),
    ...(labels.length > 0 && { labels }),
    ...(fields.text("changes") !== "" && { changes: "none" }),
  });
  fields.text("reviewFeedback");
  fields.oneOf("reviewStatus", ["needs_review", "changes_requested", "approved"]);
  fields.count("reviewCount");
  return { task, notes: fields.text("notes").trim(), node };
}

function idOf(node: JsonObject): string | null {
  const value = memberOf(node, "id")?.value;
  if (value?.is !== "scalar") return null;
  if (typeof value.value === "number") return String(value.value);
  return typeof value.value === "string" && value.value.trim() !== "" ? value.value : null;
}

type CheckedPlan =
  | {
      readonly is: "right";
      readonly tasks: readonly Task[];
      readonly checks: readonly string[];
      readonly branch: string | null;
    }
  | { readonly is: "wrong"; readonly mistakes: readonly string[] };

const MISTAKES_MAX = 20;

/** Whether a `tasks.json` that was just made can be worked on, and if not, why; `path` is for messages. */
export function checkPlanFile(file: Buffer, path: string): CheckedPlan {
  let plan: TasksJson;
  try {
    plan = scanTasksJson(file, path);
  } catch (error) {
    if (error instanceof RalphError && error.code === "bad-tasks")
      return { is: "wrong", mistakes: [error.message] };
    throw error;
  }
  const { stories, checks, branch } = plan;
  const mistakes = [...planMistakes(stories), ...stories.flatMap(reviewMistakes)];
  if (mistakes.length > 0)
    return { is: "wrong", mistakes: mistakes.slice(0, MISTAKES_MAX).map((mistake) => `${path}: ${mistake}`) };
  return { is: "right", tasks: stories.map(({ task }) => task), checks, branch };
}

/** A story that nobody has worked on has not been reviewed either. */
function reviewMistakes({ node, task, line }: Story): readonly string[] {
  return [
    ["reviewStatus", null],
    ["reviewCount", 0],
  ].flatMap(([key, untouched]) => {
    const value = memberOf(node, String(key))?.value;
    const isUntouched = value === undefined || (value.is === "scalar" && value.value === untouched);
    return isUntouched ? [] : [`line ${line}: "${task.id}": "${key}" must be ${untouched} in a new plan`];
  });
}
