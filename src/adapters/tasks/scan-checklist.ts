import { createHash } from "node:crypto";
import { plainTask, type Task, type TaskId } from "../../core/plan.ts";
import {
  type Block,
  type Bullet as BulletStart,
  isOptionalHeading,
  type Line,
  openBlock,
  readBullet,
  readHeading,
  scanLines,
} from "./scan-lines.ts";

export interface ChecklistItem {
  readonly task: Task;
  /** Of the byte between the brackets. */
  readonly offset: number;
  readonly line: number;
  /** Where the last line that belongs to it ends. */
  readonly end: number;
  /** The id that somebody wrote in front of the title. */
  readonly writtenId: TaskId | null;
  readonly bullets: readonly Bullet[];
  /** The words of the heading it stands under. */
  readonly section: string | null;
}

interface Bullet {
  readonly text: string;
  readonly line: number;
  readonly hasBox: boolean;
  /** Below the task itself, not below another bullet. */
  readonly isDirect: boolean;
}

/** The tasks of a Markdown file, nested as in CommonMark; boxes in code, comments and quotes are text. */
export function scanChecklist(file: Buffer): ChecklistItem[] {
  const scan: Scan = {
    drafts: [],
    items: [],
    block: null,
    paragraph: null,
    optionalFrom: null,
    section: null,
  };
  for (const line of scanLines(file.toString("latin1"))) {
    readLine(scan, line);
    const task = scan.items.at(-1)?.task ?? null;
    if (task !== null && line.content !== "") task.end = line.start + line.text.length;
  }
  const names = scan.drafts.map((draft) => splitTitle(decode(draft.title).trim()));
  const ids = assignIds(names);
  return scan.drafts.map((draft, at) => itemOf(draft, names[at] ?? { id: null, title: "" }, ids[at] ?? ""));
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
  /** The nearest heading below the title of the page. */
  section: string | null;
}

interface Item {
  /** Where its content begins. */
  readonly column: number;
  readonly task: Draft | null;
  /** Which of the task's bullets it is; null for the task itself. */
  readonly bullet: number | null;
}

interface Draft {
  readonly title: string;
  readonly offset: number;
  readonly line: number;
  end: number;
  readonly done: boolean;
  readonly optional: boolean;
  readonly section: string | null;
  readonly column: number;
  readonly description: string[];
  readonly bullets: { -readonly [Key in keyof Bullet]: Bullet[Key] }[];
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
  const isQuote = !isIndentedCode && line.content.startsWith(">");
  // A paragraph goes on over lines that are indented less than it is.
  if (scan.paragraph === null || isQuote) scan.items = scan.items.slice(0, inside);
  if (isQuote) scan.paragraph = line.content;
  else if (!isIndentedCode) scan.paragraph ??= line.content;
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
  if (level > 1) scan.section = text;
  const isBelow = scan.optionalFrom !== null && level > scan.optionalFrom;
  if (!isBelow) scan.optionalFrom = isOptionalHeading(decode(text)) ? level : null;
}

function addItem(scan: Scan, line: Line, start: BulletStart): void {
  const { column, text, box } = start;
  const around = scan.items.at(-1) ?? null;
  const parent = around?.task ?? null;
  if (parent !== null) {
    // A box below a task is one of its conditions, ticked or not.
    const isDirect = around?.bullet === null;
    parent.bullets.push({ text, line: line.number, hasBox: box !== null, isDirect });
    scan.items.push({ column, task: parent, bullet: parent.bullets.length - 1 });
  } else if (box !== null) {
    const optional = scan.optionalFrom !== null;
    const draft = {
      title: text,
      offset: line.contentStart + box.at,
      line: line.number,
      end: line.start,
      done: box.isTicked,
      optional,
      section: scan.section,
      column,
      description: [],
      bullets: [],
    };
    scan.drafts.push(draft);
    scan.items.push({ column, task: draft, bullet: null });
  } else {
    scan.items.push({ column, task: null, bullet: null });
  }
  const block = box === null ? openBlock(text, column) : null;
  if (block !== null) scan.block = block.isOneLine ? null : block;
  else if (text !== "") scan.paragraph = text;
}

function addText(scan: Scan, line: Line, joint: string): void {
  const { task, bullet } = scan.items.at(-1) ?? { task: null, bullet: null };
  if (task === null) return;
  const below = bullet === null ? undefined : task.bullets[bullet];
  if (below === undefined) {
    task.description.push(
      " ".repeat(line.content === "" ? 0 : Math.max(0, line.indent - task.column)) + line.content,
    );
  } else if (line.content !== "") {
    below.text += `${joint}${line.content}`;
  }
}

const TITLE_LENGTH_MAX = 200;

function itemOf(draft: Draft, { id: writtenId, title }: NamedTitle, id: TaskId): ChecklistItem {
  const text = decode(draft.description.join("\n")).replace(/^\n+/, "").trimEnd();
  const isLong = title.length > TITLE_LENGTH_MAX;
  const bullets = draft.bullets.map((bullet) => ({ ...bullet, text: decode(bullet.text).trim() }));
  const { offset, line, end, done, optional, section } = draft;
  const task = plainTask({
    id,
    title: isLong ? `${title.slice(0, TITLE_LENGTH_MAX - 1)}…` : title,
    description: isLong ? `${title}\n\n${text}`.trimEnd() : text,
    criteria: bullets.map((bullet) => bullet.text).filter((criterion) => criterion !== ""),
    done,
    optional,
  });
  return { task, offset, line, end, section: section && decode(section).trim(), writtenId, bullets };
}

function decode(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** A title, and the id that stands in front of it (`**task-001**: title`) if there is one. */
interface NamedTitle {
  readonly id: TaskId | null;
  readonly title: string;
}

function splitTitle(text: string): NamedTitle {
  const match = /^\*\*([A-Za-z0-9][\w.-]{0,63})(?:\*\*[ \t]*:|:\*\*)[ \t]*(\S[^]*)$/.exec(text);
  const [, id, title] = match ?? [];
  return id === undefined || title === undefined ? { id: null, title: text } : { id, title };
}

/** Different ids for all, that do not change when lines are inserted above. */
function assignIds(titles: readonly NamedTitle[]): TaskId[] {
  // Ids that somebody wrote down are theirs, wherever they stand.
  const written = new Set(titles.map(({ id }) => id).filter((id) => id !== null));
  const given = new Set<TaskId>();
  const numbers = new Map<string, number>();
  const firstFree = (name: string): TaskId => {
    let number = numbers.get(name) ?? 1;
    let candidate = numbered(name, number);
    while (given.has(candidate) || written.has(candidate)) candidate = numbered(name, (number += 1));
    numbers.set(name, number);
    return candidate;
  };
  return titles.map(({ id, title }) => {
    const chosen = id !== null && !given.has(id) ? id : firstFree(id ?? slugOf(title));
    given.add(chosen);
    return chosen;
  });
}

function numbered(name: string, number: number): TaskId {
  return number === 1 ? name : `${name}-${number}`;
}

const SLUG_LENGTH_MAX = 40;
const HASH_LENGTH = 6;

function slugOf(title: string): string {
  const plain = title.slice(0, 400).replaceAll(/\]\([^()]*\)/g, "");
  const words =
    plain
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.join("-");
  // What the words leave out must not make two titles one.
  const isWhole =
    slug !== "" && slug.length <= SLUG_LENGTH_MAX && title.length <= 400 && /^[\x20-\x7e]*$/.test(title);
  return isWhole ? slug : `${cutWords(words)}-${hashOf(title)}`;
}

function cutWords(words: readonly string[]): string {
  const lengthMax = SLUG_LENGTH_MAX - HASH_LENGTH - 1;
  let slug = (words[0] ?? "task").slice(0, lengthMax);
  for (const word of words.slice(1)) {
    if (slug.length + 1 + word.length > lengthMax) break;
    slug += `-${word}`;
  }
  return slug;
}

function hashOf(title: string): string {
  return createHash("sha256").update(title).digest("hex").slice(0, HASH_LENGTH);
}
