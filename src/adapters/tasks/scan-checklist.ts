import { plainTask, type Task, type TaskId } from "../../core/plan/task.ts";
import { openBlock, type Block } from "./code-and-comments.ts";
import { isOptionalHeading, readHeading } from "./heading.ts";
import { readBullet, type Bullet } from "./read-bullet.ts";
import { scanLines, type Line } from "./scan-lines.ts";
import { assignIds, splitTitle } from "./task-ids.ts";

/** A task, and where its box is. */
export interface ChecklistItem {
  readonly task: Task;
  /** Of the byte between the brackets. */
  readonly offset: number;
}

/**
 * The tasks of a Markdown file in one pass over its bytes. Follows CommonMark in what belongs to which list
 * item; boxes in code, comments and quotes are text.
 */
export function scanChecklist(file: Buffer): ChecklistItem[] {
  const scan: Scan = { drafts: [], items: [], block: null, paragraph: null, optionalFrom: null };
  for (const line of scanLines(file.toString("latin1"))) readLine(scan, line);
  const names = scan.drafts.map((draft) => splitTitle(decode(draft.title).trim()));
  const ids = assignIds(names);
  return scan.drafts.map((draft, at) => ({
    offset: draft.offset,
    task: taskOf(draft, names[at]?.title ?? "", ids[at] ?? ""),
  }));
}

interface Scan {
  readonly drafts: Draft[];
  /** The list items around the current line, outermost first. */
  items: Item[];
  block: Block | null;
  /** The first line of the text that an unindented line would continue. */
  paragraph: string | null;
  /** The level of the heading that makes everything below it optional. */
  optionalFrom: number | null;
}

interface Item {
  /** Where its content begins. */
  readonly column: number;
  readonly task: Draft | null;
  /** Which of the task's criteria it is; null for the task itself. */
  readonly criterion: number | null;
}

interface Draft {
  readonly title: string;
  readonly offset: number;
  readonly done: boolean;
  readonly optional: boolean;
  readonly column: number;
  readonly description: string[];
  readonly criteria: string[];
}

function readLine(scan: Scan, line: Line): void {
  if (scan.block !== null && goOn(scan, scan.block, line)) return;
  if (line.content === "") {
    scan.paragraph = null;
    addText(scan, line, "\n");
    return;
  }
  const inside = scan.items.findLastIndex((item) => item.column <= line.indent) + 1;
  const column = scan.items[inside - 1]?.column ?? 0;
  const isIndentedCode = line.indent - column >= 4;
  if (!isIndentedCode && startBlock(scan, line, inside, column)) return;
  // A paragraph goes on over lines that are indented less than it is.
  if (scan.paragraph === null) scan.items = scan.items.slice(0, inside);
  if (!isIndentedCode) scan.paragraph ??= line.content;
  addText(scan, line, " ");
}

/** Whether the line still belongs to the code or the comment. */
function goOn(scan: Scan, block: Block, line: Line): boolean {
  const hasLeftItem = block.is === "code" && line.content !== "" && line.indent < block.column;
  if (hasLeftItem || block.isEnd(line)) scan.block = null;
  if (!hasLeftItem && block.is === "code") addText(scan, line, "\n");
  return !hasLeftItem;
}

/** What may end a paragraph: a heading, a rule, code, a comment, a list item. */
function startBlock(scan: Scan, line: Line, inside: number, column: number): boolean {
  const { content } = line;
  const underline =
    scan.items.length === 0 && scan.paragraph !== null ? /^(=+|-+)[ \t]*$/.exec(content)?.[0] : undefined;
  if (underline !== undefined) {
    startSection(scan, underline.startsWith("=") ? 1 : 2, scan.paragraph ?? "");
    return true;
  }
  const isRule = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(content);
  const heading = inside === 0 ? readHeading(content) : null;
  const block = openBlock(content, column);
  const canInterrupt = scan.paragraph === null || inside < scan.items.length;
  const bullet = isRule ? null : readBullet(line, canInterrupt);
  if (!isRule && heading === null && block === null && bullet === null) return false;
  scan.items = scan.items.slice(0, inside);
  scan.paragraph = null;
  if (heading !== null) startSection(scan, heading.level, heading.text);
  else if (bullet !== null) addItem(scan, line, bullet);
  else if (block !== null) {
    scan.block = block.isOneLine ? null : block;
    if (block.is === "code") addText(scan, line, "\n");
  }
  return true;
}

function startSection(scan: Scan, level: number, text: string): void {
  scan.paragraph = null;
  const isBelow = scan.optionalFrom !== null && level > scan.optionalFrom;
  if (!isBelow) scan.optionalFrom = isOptionalHeading(decode(text)) ? level : null;
}

function addItem(scan: Scan, line: Line, bullet: Bullet): void {
  const { column, box, text } = bullet;
  const parent = scan.items.at(-1)?.task ?? null;
  if (parent !== null) {
    // A box below a task is one of its conditions, ticked or not.
    parent.criteria.push(text);
    scan.items.push({ column, task: parent, criterion: parent.criteria.length - 1 });
  } else if (box !== null) {
    const optional = scan.optionalFrom !== null;
    const offset = line.contentStart + box.at;
    const draft = {
      title: text,
      offset,
      done: box.isTicked,
      optional,
      column,
      description: [],
      criteria: [],
    };
    scan.drafts.push(draft);
    scan.items.push({ column, task: draft, criterion: null });
  } else {
    scan.items.push({ column, task: null, criterion: null });
  }
  const block = box === null ? openBlock(text, column) : null;
  if (block !== null) scan.block = block.isOneLine ? null : block;
  else if (text !== "") scan.paragraph = text;
}

function addText(scan: Scan, line: Line, joint: string): void {
  const { task, criterion } = scan.items.at(-1) ?? { task: null, criterion: null };
  if (task === null) return;
  if (criterion === null) {
    task.description.push(
      " ".repeat(line.content === "" ? 0 : Math.max(0, line.indent - task.column)) + line.content,
    );
  } else if (line.content !== "") {
    task.criteria[criterion] += `${joint}${line.content}`;
  }
}

const TITLE_LENGTH_MAX = 200;

function taskOf(draft: Draft, fullTitle: string, id: TaskId): Task {
  const text = decode(draft.description.join("\n")).replace(/^\n+/, "").trimEnd();
  const isLong = fullTitle.length > TITLE_LENGTH_MAX;
  return plainTask({
    id,
    title: isLong ? `${fullTitle.slice(0, TITLE_LENGTH_MAX - 1)}…` : fullTitle,
    description: isLong ? `${fullTitle}\n\n${text}`.trimEnd() : text,
    criteria: draft.criteria
      .map((criterion) => decode(criterion).trim())
      .filter((criterion) => criterion !== ""),
    done: draft.done,
    optional: draft.optional,
  });
}

function decode(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
