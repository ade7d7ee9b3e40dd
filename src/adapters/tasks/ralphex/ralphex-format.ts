import { plainTask, type Task, type TaskId } from "../../../core/plan/task.ts";
import { assignIds, type ChecklistItem, scanChecklist } from "../scan-checklist.ts";
import { type Block, type Line, openBlock, readHeading, scanLines } from "../scan-lines.ts";
import { checkedTasks, type Marked, type Marking, type TaskFormat } from "../task-format.ts";

/** Plans of ralphex: Markdown with `### Task 1: …` and boxes below. Only the bytes in the boxes are ever written. */
export const RALPHEX: TaskFormat = {
  kind: "ralphex",
  read: (file, path) => {
    const { tasks, checks } = scanRalphex(file);
    return { tasks: checkedTasks(tasks, path), demands: { checks, branch: null } };
  },
  mark: (file, _path, marking) => marked(file, marking),
};

function marked(file: Buffer, { isDone, isWanted }: Marking): Marked {
  const wanted = scanRalphex(file).tasks.filter(({ task }) => isWanted(task.id) && task.done !== isDone);
  const edited = Buffer.from(file);
  for (const { boxes } of wanted)
    for (const { offset, done } of boxes)
      if (done !== isDone) edited.write(isDone ? "x" : " ", offset, "latin1");
  return { file: edited, changed: wanted.map(({ task }) => task.id) };
}

/** A `### Task 1: …` of a plan, with its boxes. It is done when all of them are ticked. */
interface RalphexTask {
  readonly task: Task;
  readonly line: number;
  readonly boxes: readonly RalphexBox[];
}

interface RalphexBox {
  readonly done: boolean;
  /** Of the byte between the brackets. */
  readonly offset: number;
}

interface RalphexPlan {
  readonly tasks: readonly RalphexTask[];
  /** What stands below "Validation Commands". */
  readonly checks: readonly string[];
  /** What a further task would be called; those without a box have a number too. */
  readonly nextNumber: number;
}

/** Reads a plan. A task without a box has nothing to do, and is none. */
export function scanRalphex(file: Buffer): RalphexPlan {
  const lines = scanLines(file.toString("latin1"));
  const sections = sectionsOf(lines, scanChecklist(file));
  const found = sections.filter(({ number, boxes }) => number !== null && boxes.length > 0);
  const ids = assignIds(found.map(({ number, title }) => ({ id: idOf(number ?? ""), title })));
  return {
    tasks: found.map((section, at) => ({
      task: taskOf(section, ids[at] ?? ""),
      line: section.line,
      boxes: boxesIn(section),
    })),
    checks: sections.filter(({ title }) => /^validation commands?$/i.test(title)).flatMap(commandsIn),
    nextNumber: sections.reduce((next, { number }) => Math.max(next, 1 + integerOf(number)), 1),
  };
}

function integerOf(number: string | null): number {
  return Number(/^\d{1,9}/.exec(number ?? "")?.[0] ?? 0);
}

/** What stands below a heading, up to the next one that ends it. */
interface Section {
  /** Of a task; null for any other heading. */
  readonly number: string | null;
  readonly title: string;
  readonly level: number;
  readonly line: number;
  readonly lines: Line[];
  readonly boxes: ChecklistItem[];
}

/** A task ends with the next task, and with any heading of its own level or above; headings below belong to it. */
function sectionsOf(lines: readonly Line[], items: readonly ChecklistItem[]): readonly Section[] {
  const headings = new Map(headingsIn(lines).map((heading) => [heading.line, heading]));
  const boxes = new Map(items.map((item) => [item.line, item]));
  const sections: Section[] = [];
  for (const line of lines) {
    const heading = headings.get(line.number);
    const current = sections.at(-1);
    const next = heading && sectionOf(heading);
    const isBelow = current != null && current.number !== null && (heading?.level ?? 0) > current.level;
    if (next !== undefined && (next.number !== null || !isBelow)) {
      sections.push(next);
      continue;
    }
    current?.lines.push(line);
    const box = boxes.get(line.number);
    if (box !== undefined) current?.boxes.push(box);
  }
  return sections;
}

function sectionOf({ level, text, line }: PlacedHeading): Section {
  const isTask = level >= 2 && level <= 4;
  const [, number = null, title = text] =
    (isTask ? /^(?:Task|Iteration)\s+([^:]{1,40}?)\s*:\s*(.*)$/.exec(text) : null) ?? [];
  return { number, title, level, line, lines: [], boxes: [] };
}

interface PlacedHeading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

function headingsIn(lines: readonly Line[]): readonly PlacedHeading[] {
  const headings: PlacedHeading[] = [];
  let block: Block | null = null;
  for (const line of lines) {
    if (block !== null) {
      if (block.isEnd(line)) block = null;
      continue;
    }
    block = openBlock(line.content, 0);
    if (block?.isOneLine === true) block = null;
    const heading = line.indent < 4 ? readHeading(line.content) : null;
    if (heading === null) continue;
    const text = decode(heading.text)
      .trim()
      .replace(/\s+#+$/, "");
    headings.push({ level: heading.level, text, line: line.number });
  }
  return headings;
}

function boxesIn({ boxes }: Section): readonly RalphexBox[] {
  return boxes.flatMap(({ task, offset, bullets }) => [
    { offset, done: task.done },
    ...bullets.flatMap(({ box }) => (box === null ? [] : [{ offset: box.offset, done: box.isTicked }])),
  ]);
}

function taskOf(section: Section, id: TaskId): Task {
  const { title, lines, boxes } = section;
  const first = boxes[0]?.line ?? 0;
  const description = lines
    .filter(({ number }) => number < first)
    .map(({ text }) => decode(text).trimEnd())
    .join("\n")
    .trim();
  return plainTask({
    id,
    title: title === "" ? id : title,
    description,
    criteria: boxes.flatMap(({ task }) => [task.title, ...task.criteria]),
    done: boxesIn(section).every(({ done }) => done),
  });
}

/** Bullets that are a command and nothing else. */
function commandsIn({ lines }: Section): readonly string[] {
  return lines.flatMap(({ text }) => {
    const command = /^\s{0,3}[-*+]\s+`([^`]+)`\s*$/.exec(decode(text))?.[1]?.trim();
    return command === undefined || command === "" ? [] : [command];
  });
}

/** `task-2` of "Task 2: …"; null where nothing but signs stands there. */
function idOf(number: string): TaskId | null {
  const plain = number
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return plain === "" ? null : `task-${plain}`;
}

function decode(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
