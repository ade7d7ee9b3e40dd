import { scanChecklist, type ChecklistItem } from "./scan-checklist.ts";
import type { TaskFile } from "./task-file.ts";

/** Writes the one byte in the boxes of the wanted tasks; answers them. */
export function tickBoxes(
  file: TaskFile,
  mark: "x" | " ",
  isWanted: (item: ChecklistItem) => boolean,
): readonly ChecklistItem[] {
  let wanted: readonly ChecklistItem[] = [];
  file.edit((bytes) => {
    wanted = scanChecklist(bytes).filter(isWanted);
    for (const { offset } of wanted) bytes.write(mark, offset, "latin1");
    return wanted.length === 0 ? null : bytes;
  });
  return wanted;
}
