import { z } from "zod";
import { planMistakes } from "../../core/plan-checks.ts";
import { plainTask, type Task } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import { type JsonArray, type JsonNode, type JsonObject, memberOf } from "../../core/json.ts";
import { type FieldEdit, hasReviewFields, readStories, UNTOUCHED } from "../../core/review/story-review.ts";
import { badTasks, LINE_END, parseTasksFile } from "./read-json.ts";
import { type Added, checkedTasks, nextId, type TaskFormat } from "./task-format.ts";

/** Tasks in a `tasks.json` or `prd.json`. Only `passes` and the fields of the review cycle are ever written. */
export const STORIES: TaskFormat = {
  kind: "tasks-json",
  read: (file, path) => {
    const { stories, checks, branch } = readPlan(file, path);
    return { tasks: checkedTasks(withNotes(stories, file), path), demands: { checks, branch } };
  },
  mark: (file, path, task, isDone) => {
    const wanted = Object.entries(isDone ? { passes: true } : TO_DO_AGAIN);
    const edits = wanted.map(([field, value]) => ({ story: task, field, value }) as FieldEdit);
    return withFields(file, path, edits, isDone);
  },
  add: addStory,
  stories: {
    read: (file) => {
      try {
        return parsed(file);
      } catch {
        return undefined; // it is no JSON, which the caller says in its own words
      }
    },
    edit: withFields,
  },
};

/** Neither passed nor reviewed; its feedback stays. Fields that it does not have are not added. */
const TO_DO_AGAIN = {
  passes: UNTOUCHED.passes,
  reviewStatus: UNTOUCHED.reviewStatus,
  reviewCount: UNTOUCHED.reviewCount,
};

/** Notes belong to the review state. Where no story has one, they are part of what the story says. */
function withNotes(stories: readonly Story[], file: Buffer): readonly Story[] {
  const read = readStories(parsed(file)).stories;
  const reviews = new Map(hasReviewFields(read) ? read.map((story) => [story.id, story]) : []);
  return stories.map((story) => {
    const { task, said } = story;
    const review = reviews.get(task.id);
    if (review !== undefined) return { ...story, task: { ...task, review } };
    const notes = said.notes?.trim() ?? "";
    const described = notes === "" ? task.description : `${task.description}\n\nNotes: ${notes}`.trimStart();
    return { ...story, task: { ...task, description: described } };
  });
}

function parsed(file: Buffer): unknown {
  return JSON.parse(file.toString("utf8").replace(/^\uFEFF/, ""));
}

/** A field may be missing or null; the words are for the message. */
const field = <Value>(read: (words: string) => z.ZodType<Value>, words: string) => read(words).nullish();
const text = field((words) => z.string(words), "a text");
const texts = field((words) => z.array(z.string(words), words), "a list of texts");
const oneOf = (...values: readonly string[]) =>
  field(
    (words) => z.enum(values, words),
    `null or ${values.length > 1 ? "one of " : ""}${values.join(", ")}`,
  );

const ID = "a text that is not empty";
const STORY = z.looseObject(
  {
    id: z.union([z.number(), z.string().refine((id) => id.trim() !== "", ID)], ID),
    title: text,
    description: text,
    acceptanceCriteria: texts,
    dependsOn: texts,
    labels: texts,
    priority: field((words) => z.number(words), "a number"),
    passes: field((words) => z.boolean(words), "true or false"),
    changes: oneOf("none"),
    approve: field((words) => z.enum(["person", "auto"], words), "null or one of person, auto"),
    notes: text,
    reviewFeedback: text,
    reviewStatus: oneOf("needs_review", "changes_requested", "approved"),
    reviewCount: field((words) => z.int(words).min(0, words), "a whole number from 0"),
  },
  "an object",
);

const PLAN = z.looseObject({
  project: text,
  description: text,
  branchName: text,
  verifyCommands: texts,
  userStories: z.array(STORY, "a list of stories"),
});

interface Story {
  readonly task: Task;
  readonly said: z.infer<typeof STORY>;
  readonly line: number;
}

/** Reads and checks the whole file; what is wrong is named with its story and key. */
export function readPlan(file: Buffer, path: string) {
  const top = parseTasksFile(file, path);
  const read = PLAN.safeParse(parsed(file));
  const issue = read.error?.issues[0];
  if (issue !== undefined) throw wrongField(file, path, top, issue);
  const { branchName, verifyCommands, userStories } = read.data as z.infer<typeof PLAN>;
  const bytes = file.toString("latin1");
  let [line, at] = [1, 0];
  return {
    branch: branchName?.trim() || null,
    checks: (verifyCommands ?? []).filter((command) => command.trim() !== ""),
    stories: userStories.map((story, index): Story => {
      const node = nodeAt(top, ["userStories", index]);
      line += bytes.slice(at, node.start).split(LINE_END).length - 1;
      at = node.start;
      if ((story.title ?? "").trim() === "") {
        const title = node.is === "object" ? memberOf(node, "title")?.value : undefined;
        throw badTasks(file, path, (title ?? node).start, `story "${story.id}": "title" is missing`);
      }
      return { task: taskOf(story), said: story, line };
    }),
  };
}

function taskOf(story: z.infer<typeof STORY>): Task {
  const labels = [...new Set(story.labels)];
  return plainTask({
    id: String(story.id),
    title: (story.title ?? "").trim(),
    description: story.description ?? "",
    criteria: story.acceptanceCriteria ?? [],
    dependsOn: [...new Set(story.dependsOn)],
    priority: story.priority ?? null,
    done: story.passes ?? false,
    ...(labels.length > 0 && { labels }),
    ...(story.changes && { changes: "none" }),
    ...(story.approve && { approve: story.approve }),
  });
}

function wrongField(file: Buffer, path: string, top: JsonNode, issue: z.core.$ZodIssue): RalphError {
  const [first, index, ...rest] = issue.path;
  const bad = (node: JsonNode, problem: string): RalphError => badTasks(file, path, node.start, problem);
  if (first === undefined) return bad(top, 'expected an object with "userStories"');
  const node = nodeAt(top, issue.path);
  const isMissing = node === nodeAt(top, issue.path.slice(0, -1));
  const must = `must be ${issue.message}`;
  if (first !== "userStories") return bad(node, `"${String(first)}" ${must}`);
  if (index === undefined)
    return bad(node, `"userStories" ${isMissing ? "is missing; expected a list of stories" : must}`);
  const story = nodeAt(top, [first, index]);
  const [key] = rest;
  if (key === undefined) return bad(node, `userStories[${String(index)}] ${must}`);
  if (key === "id")
    return bad(node, `userStories[${String(index)}]: "id" ${isMissing ? "is missing" : must}`);
  const id = story.is === "object" ? idOf(story) : null;
  return bad(node, `story "${id}": "${String(key)}" ${must}`);
}

/** The value at a path, or the last one on the way to it. */
function nodeAt(top: JsonNode, path: readonly PropertyKey[]): JsonNode {
  return path.reduce<JsonNode>((node, key) => {
    if (node.is === "object") return memberOf(node, String(key))?.value ?? node;
    return node.is === "array" ? (node.items[Number(key)] ?? node) : node;
  }, top);
}

/** The stories that have an id, whatever else is wrong with them. Throws only if the file is no JSON. */
function findStories(
  file: Buffer,
  path: string,
): readonly { readonly id: string; readonly node: JsonObject }[] {
  return (storyList(file, path)?.items ?? []).flatMap((node) => {
    const id = node.is === "object" ? idOf(node) : null;
    return node.is === "object" && id !== null ? [{ id, node }] : [];
  });
}

function storyList(file: Buffer, path: string): JsonArray | null {
  const top = parseTasksFile(file, path);
  const list = top.is === "object" ? memberOf(top, "userStories")?.value : undefined;
  return list?.is === "array" ? list : null;
}

function idOf(node: JsonObject): string | null {
  const value = memberOf(node, "id")?.value;
  if (value?.is !== "scalar" || value.value === null || String(value.value).trim() === "") return null;
  return typeof value.value === "boolean" ? null : String(value.value);
}

/** The file with these fields as wanted; all else byte for byte. A story that is not there is left alone. */
export function withFields(file: Buffer, path: string, edits: readonly FieldEdit[], mayAdd = true): Buffer {
  return edits.reduce((before, { story, field: key, value }) => {
    const json = JSON.stringify(value);
    const nodes = findStories(before, path).filter(
      ({ id, node }) => id === story && (mayAdd || memberOf(node, key) !== null),
    );
    // From the end, so that the places before it stay where they are.
    return nodes.reduceRight((edited, { node }) => withField(edited, node, key, json), before);
  }, file);
}

/** Sets one field of an object; a field that is not there comes after the last one, in its manner. */
function withField(file: Buffer, story: JsonObject, key: string, json: string): Buffer {
  const value = memberOf(story, key)?.value;
  if (value !== undefined) return splice(file, value.start, value.end, json);
  const last = story.members.at(-1);
  if (last === undefined) throw new Error("a story without members"); // it has an id
  const before = story.members.at(-2)?.value.end;
  const space = file.toString("latin1", before ?? story.start + 1, last.keyStart).replace(/^\s*,/, "");
  const colon = file.toString("latin1", last.keyEnd, last.value.start);
  return splice(file, last.value.end, last.value.end, `,${space}${JSON.stringify(key)}${colon}${json}`);
}

function splice(file: Buffer, start: number, end: number, put: string): Buffer {
  return Buffer.concat([file.subarray(0, start), Buffer.from(put), file.subarray(end)]);
}

function addStory(file: Buffer, path: string, title: string): Added {
  const { stories } = readPlan(file, path);
  const list = storyList(file, path);
  if (list === null) throw new Error("a list that was there is gone");
  const ids = stories.map(({ task }) => task.id);
  const id = nextId(ids, "US-");
  const priority = Math.max(0, ...stories.map(({ task }) => Math.ceil(task.priority ?? 0))) + 1;
  const known = { ...EMPTY_STORY, id, title, priority };
  const bytes = file.toString("latin1");
  const last = list.items.at(-1);
  if (last?.is !== "object") {
    const first = firstStory(bytes, list, valuesOf(USUAL_KEYS, known));
    return { file: splice(file, list.start + 1, list.end - 1, first), id };
  }
  const keys = last.members.map(({ key }) => key).filter((key) => Object.hasOwn(known, key));
  const further = furtherStory(bytes, list, last, valuesOf(keys, known));
  return { file: splice(file, last.end, last.end, further), id };
}

/** What a new story says under the keys that we know. */
const EMPTY_STORY = {
  id: "",
  title: "",
  description: "",
  acceptanceCriteria: [],
  priority: null,
  ...UNTOUCHED,
  dependsOn: [],
};

const USUAL_KEYS = ["id", "title", "description", "acceptanceCriteria", "priority", "passes"];

type Values = readonly (readonly [key: string, json: string])[];

function valuesOf(keys: readonly string[], known: Readonly<Record<string, unknown>>): Values {
  return [...new Set([...keys, "id", "title", "passes"])].map((key) => [key, JSON.stringify(known[key])]);
}

/** Laid out as the one before it. */
function furtherStory(bytes: string, list: JsonArray, last: JsonObject, values: Values): string {
  const spaceBefore = (end: number): string => /[ \t\r\n]*$/.exec(bytes.slice(list.start, end))?.[0] ?? "";
  const [first, second] = last.members;
  const opening = spaceBefore(first?.keyStart ?? last.end);
  const between = second === undefined ? opening : spaceBefore(second.keyStart);
  const colon = first === undefined ? ": " : bytes.slice(first.keyEnd, first.value.start);
  const members = values.map(([key, json]) => `${JSON.stringify(key)}${colon}${json}`);
  return `,${spaceBefore(last.start)}{${opening}${members.join(`,${between}`)}${spaceBefore(last.end - 1)}}`;
}

function firstStory(bytes: string, list: JsonArray, values: Values): string {
  const [, ending, indent = ""] = /(\r\n|\n|\r)([ \t]*)[^\r\n]*$/.exec(bytes.slice(0, list.start)) ?? [];
  if (ending === undefined)
    return `{${values.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;
  const step = indent === "" ? "  " : indent;
  const outer = `${ending}${indent}${step}`;
  const members = values.map(([key, json]) => `${outer}${step}${JSON.stringify(key)}: ${json}`);
  return `${outer}{${members.join(",")}${outer}}${ending}${indent}`;
}

const MISTAKES_MAX = 20;

/** Whether a `tasks.json` that was just made can be worked on, and if not, why; `path` is for messages. */
export function checkPlanFile(file: Buffer, path: string) {
  try {
    const { stories, checks, branch } = readPlan(file, path);
    const tasks = stories.map(({ task }) => task);
    const mistakes = [...planMistakes(stories), ...stories.flatMap(reviewMistakes)];
    if (mistakes.length === 0) return { is: "right", tasks, checks, branch } as const;
    const named = mistakes.slice(0, MISTAKES_MAX).map((mistake) => `${path}: ${mistake}`);
    return { is: "wrong", mistakes: named } as const;
  } catch (error) {
    if (!(error instanceof RalphError && error.code === "bad-tasks")) throw error;
    return { is: "wrong", mistakes: [error.message] } as const;
  }
}

/** A story that nobody has worked on has not been reviewed either. */
function reviewMistakes({ said, task, line }: Story): readonly string[] {
  return (["reviewStatus", "reviewCount"] as const)
    .filter((key) => (said[key] ?? UNTOUCHED[key]) !== UNTOUCHED[key])
    .map((key) => `line ${line}: "${task.id}": "${key}" must be ${UNTOUCHED[key]} in a new plan`);
}
