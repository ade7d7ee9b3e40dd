import { scanChecklist, type ChecklistItem } from "./scan-checklist.ts";
import type { TaskFile } from "./task-file.ts";

/** Writes the one byte in the boxes of the wanted tasks; answers them. */
export function tickBoxes(
  file: TaskFile,
  mark: "x" | " ",
  isWanted: (item: ChecklistItem) => boolean,
): readonly ChecklistItem[] {
  let ticked: readonly ChecklistItem[] = [];
  file.edit((bytes) => {
    const after = withTicks(bytes, mark, isWanted);
    ticked = after.items;
    return ticked.length === 0 ? null : after.file;
  });
  return ticked;
}

/** The same for a file that may lie anywhere. */
export function withTicks(
  file: Buffer,
  mark: "x" | " ",
  isWanted: (item: ChecklistItem) => boolean,
): { readonly file: Buffer; readonly items: readonly ChecklistItem[] } {
  const items = scanChecklist(file).filter(isWanted);
  const ticked = Buffer.from(file);
  for (const { offset } of items) ticked.write(mark, offset, "latin1");
  return { file: ticked, items };
}
