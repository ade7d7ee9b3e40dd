import { plainTask, type Task } from "../../../core/plan/task.ts";
import { RalphError } from "../../../core/ralph-error.ts";
import { checkedTasks, type Marked, type Marking, NO_DEMANDS, type TaskFormat } from "../task-format.ts";
import { JsonError, type JsonObject, MemberFields, memberOf, readJson } from "../read-json.ts";
import { type ListedTask, statementsIn, withoutSetAside } from "../listed-task.ts";
import { fieldEdit, splice } from "../tasks-json-source.ts";

/** The issues of Beads, one a line in `.beads/issues.jsonl`. */
export function beadsFormat(now: () => string = () => new Date().toISOString()): TaskFormat {
  return {
    kind: "beads",
    read: (file, path) => ({ tasks: beadTasks(file, path), demands: NO_DEMANDS }),
    mark: (file, path, marking) => markBeads(file, path, marking, now),
  };
}

/** Closes or reopens issues. Beads goes by the dates beside the status, so they belong to the mark. */
function markBeads(file: Buffer, path: string, { isDone, isWanted }: Marking, now: () => string): Marked {
  const wanted = scanBeads(file, path).filter(
    ({ id, node }) => isWanted(id) && (statusOf(node) === "closed") !== isDone,
  );
  if (wanted.length === 0) return { file, changed: [] };
  const marked = wanted.reduceRight((edited, { start, end }) => {
    const line = edited.subarray(start, end);
    const put = isDone ? closed(line, now()) : reopened(line);
    return Buffer.concat([edited.subarray(0, start), put, edited.subarray(end)]);
  }, file);
  return { file: marked, changed: wanted.map(({ id }) => id) };
}

function closed(line: Buffer, at: string): Buffer {
  const hasDate = memberOf(nodeOf(line), "updated_at") !== null;
  const dated = hasDate ? withText(line, "updated_at", at) : line;
  return withText(withText(dated, "status", "closed"), "closed_at", at);
}

function reopened(line: Buffer): Buffer {
  return withoutMember(withText(line, "status", "open"), "closed_at");
}

function nodeOf(line: Buffer): JsonObject {
  const node = readJson(line);
  if (node.is !== "object") throw new Error("an issue that was there is gone");
  return node;
}

function withText(line: Buffer, key: string, value: string): Buffer {
  return splice(line, fieldEdit(line, nodeOf(line), key, JSON.stringify(value)));
}

function withoutMember(line: Buffer, key: string): Buffer {
  const { members } = nodeOf(line);
  const at = members.findLastIndex((member) => member.key === key);
  const member = members[at];
  if (member === undefined) return line;
  const last = members[at - 1];
  const start = last === undefined ? member.keyStart : last.value.end;
  const end = last === undefined ? (members[at + 1]?.keyStart ?? member.value.end) : member.value.end;
  return splice(line, { start, end, text: "" });
}

/** One line of `issues.jsonl`. */
interface Bead {
  readonly id: string;
  readonly line: number;
  /** Where the line is in the file, without its ending. */
  readonly start: number;
  readonly end: number;
  /** Its places count from the beginning of the line. */
  readonly node: JsonObject;
}

/** The issues that are work for an agent, open or closed. */
function beadTasks(file: Buffer, path: string): readonly Task[] {
  const listed = scanBeads(file, path).map((bead) => listedBead(bead, path));
  return checkedTasks(withoutSetAside(listed), path);
}

/** Every line with an id; blank lines are allowed. */
function scanBeads(file: Buffer, path: string): readonly Bead[] {
  const beads: Bead[] = [];
  let number = 0;
  for (let start = 0; start < file.length;) {
    number += 1;
    const next = file.indexOf("\n", start);
    const end = next === -1 ? file.length : next;
    const bead = beadIn(file.subarray(start, end), path, number);
    if (bead !== null) beads.push({ ...bead, line: number, start, end });
    start = end + 1;
  }
  return beads;
}

function beadIn(line: Buffer, path: string, number: number): Pick<Bead, "id" | "node"> | null {
  if (/^(?:\xEF\xBB\xBF)?\s*$/.test(line.toString("latin1"))) return null;
  const bad = (column: number, problem: string): RalphError =>
    new RalphError("bad-tasks", `${path}:${number}:${column + 1}: ${problem}`);
  try {
    const node = readJson(line);
    if (node.is !== "object") throw bad(node.start, "expected one issue a line, each an object");
    const id = memberOf(node, "id")?.value;
    if (id?.is !== "scalar" || typeof id.value !== "string" || id.value.trim() === "")
      throw bad(node.start, 'this issue has no "id"');
    return { id: id.value, node };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw bad(error.offset, `this is not JSON; ${error.message}`);
  }
}

function statusOf(node: JsonObject): string {
  const value = memberOf(node, "status")?.value;
  return value?.is === "scalar" && typeof value.value === "string" ? value.value.toLowerCase() : "open";
}

/** Kinds of issues that an agent can work on; the others hold issues together, or are no work. */
const WORK = ["task", "bug", "feature", "chore", "decision", "spike", "story"];
const GONE = ["tombstone"];
const LATER = ["deferred", "pinned"];

function listedBead({ id, node, line }: Bead, path: string): ListedTask {
  const fields = new MemberFields(
    node,
    `issue "${id}": `,
    (at, problem) => new RalphError("bad-tasks", `${path}:${line}:${at + 1}: ${problem}`),
  );
  const title = fields.text("title").trim();
  const status = statusOf(node);
  if (title === "" && !GONE.includes(status))
    throw new RalphError("bad-tasks", `${path}:${line}: issue "${id}": "title" is missing`);
  const dependsOn = blockersOf(node);
  const isHeld = status === "blocked" && dependsOn.length === 0;
  const isWork = WORK.includes(fields.text("issue_type") || "task");
  const description = [fields.text("description"), fields.text("design"), fields.text("notes")];
  const task = plainTask({
    id,
    title,
    description: description.filter((text) => text.trim() !== "").join("\n\n"),
    criteria: statementsIn(fields.text("acceptance_criteria")),
    dependsOn,
    priority: fields.number("priority"),
    done: status === "closed",
  });
  if (GONE.includes(status) || (!isWork && task.done)) return { task, line, setAside: "gone" };
  return { task, line, setAside: LATER.includes(status) || isHeld || !isWork ? "later" : null };
}

/** The issues that must be closed first. A parent only holds its children together. */
function blockersOf(node: JsonObject): readonly string[] {
  const list = memberOf(node, "dependencies")?.value;
  const ids = (list?.is === "array" ? list.items : []).flatMap((item) => {
    if (item.is !== "object") return [];
    const type = memberOf(item, "type")?.value;
    const on = memberOf(item, "depends_on_id")?.value;
    const blocks = type?.is === "scalar" && type.value === "blocks";
    return blocks && on?.is === "scalar" && typeof on.value === "string" ? [on.value] : [];
  });
  return [...new Set(ids)];
}
