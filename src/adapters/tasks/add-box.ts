import { scanChecklist, type ChecklistItem } from "./scan-checklist.ts";

/** The file with one more box after the last one, in the manner of that one. */
export function addBox(file: Buffer, title: string): Buffer {
  const items = scanChecklist(file);
  const last = items.findLast((item) => !item.task.optional) ?? items.at(-1);
  const text = file.toString("latin1");
  const ending = /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
  if (last === undefined) {
    const isClosed = text === "" || /[\r\n]$/.test(text);
    return Buffer.concat([file, Buffer.from(`${isClosed ? "" : ending}- [ ] ${title}${ending}`)]);
  }
  const gap = isLoose(text, items, last) ? ending : "";
  const line = `${ending}${gap}${bulletAfter(text, last)}[ ] ${title}`;
  return Buffer.concat([file.subarray(0, last.end), Buffer.from(line), file.subarray(last.end)]);
}

/** Whether the list has blank lines between its items. */
function isLoose(text: string, items: readonly ChecklistItem[], last: ChecklistItem): boolean {
  const before = items[items.indexOf(last) - 1];
  return (
    before !== undefined &&
    /^(\r\n|\n|\r)[ \t]*(\r\n|\n|\r)[^\r\n]*$/.test(text.slice(before.end, last.offset))
  );
}

function bulletAfter(text: string, { offset }: ChecklistItem): string {
  const lineStart = Math.max(text.lastIndexOf("\n", offset), text.lastIndexOf("\r", offset)) + 1;
  const bullet = text.slice(lineStart, offset - 1).replace(/^\xEF\xBB\xBF/, "");
  return bullet.replace(/\d+(?=[.)])/, (number) => String(Number(number) + 1));
}
