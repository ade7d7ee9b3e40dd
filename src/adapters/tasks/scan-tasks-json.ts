import { plainTask, type Task } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { createPositions } from "./file-positions.ts";
import { MemberFields, type Complain } from "./member-fields.ts";
import {
  JsonError,
  memberOf,
  readJson,
  type JsonArray,
  type JsonNode,
  type JsonObject,
} from "./read-json.ts";

/** A `tasks.json` as it was read; `path` is for messages. */
export interface TasksJson {
  readonly branch: string | null;
  readonly checks: readonly string[];
  readonly stories: readonly Story[];
}

export interface Story {
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
