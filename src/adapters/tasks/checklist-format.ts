import { type ChecklistItem, scanChecklist } from "./scan-checklist.ts";
import { type Added, NO_DEMANDS, type TaskFormat } from "./task-format.ts";

/** Tasks in a Markdown checklist. Only the byte in the box is ever written. */
export const CHECKLIST: TaskFormat = {
  kind: "checklist",
  read: (file) => ({ tasks: scanChecklist(file).map(({ task }) => task), demands: NO_DEMANDS }),
  mark: (file, _path, task, isDone) => tickBoxes(file, isDone, (item) => item.task.id === task),
  add: (file, _path, title) => addBox(file, title),
};

/** The file with the boxes of the wanted tasks ticked or cleared. */
export function tickBoxes(file: Buffer, isDone: boolean, isWanted: (item: ChecklistItem) => boolean): Buffer {
  const ticked = Buffer.from(file);
  for (const item of scanChecklist(file))
    if (item.task.done !== isDone && isWanted(item)) ticked.write(isDone ? "x" : " ", item.offset, "latin1");
  return ticked;
}

/** The file with one more box after the last one, in the manner of that one. */
export function addBox(file: Buffer, title: string): Added {
  const items = scanChecklist(file);
  const last = items.findLast((item) => !item.task.optional) ?? items.at(-1);
  const text = file.toString("latin1");
  const ending = /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
  const isClosed = text === "" || /[\r\n]$/.test(text);
  const line =
    last === undefined
      ? `${isClosed ? "" : ending}- [ ] ${title}${ending}`
      : `${ending}${isLoose(text, items, last) ? ending : ""}${bulletAfter(text, last)}[ ] ${title}`;
  const end = last?.end ?? file.length;
  const longer = Buffer.concat([file.subarray(0, end), Buffer.from(line), file.subarray(end)]);
  const before = new Set(items.map(({ task }) => task.id));
  return { file: longer, id: scanChecklist(longer).find(({ task }) => !before.has(task.id))?.task.id };
}

/** Whether the list has blank lines between its items. */
function isLoose(text: string, items: readonly ChecklistItem[], last: ChecklistItem): boolean {
  const before = items[items.indexOf(last) - 1];
  return (
    before !== undefined &&
    /^(\r\n|\n|\r(?!\n))[ \t]*(\r\n|\n|\r)[^\r\n]*$/.test(text.slice(before.end, last.offset))
  );
}

function bulletAfter(text: string, { offset }: ChecklistItem): string {
  const lineStart = Math.max(text.lastIndexOf("\n", offset), text.lastIndexOf("\r", offset)) + 1;
  const bullet = text.slice(lineStart, offset - 1).replace(/^\xEF\xBB\xBF/, "");
  return bullet.replace(/\d+(?=[.)])/, (number) => String(Number(number) + 1));
}
