import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Instant } from "../../core/time.ts";

/** What agents printed and were told, and what a run printed that was watched in the monitor. */
const TEXT = /^(?:(iteration|plan)-(\d+)\.(?:log|prompt\.md)|run-\d{8}T\d{6}-\d+\.log)$/;

/**
 * Deletes texts of iterations that nobody has written to since a moment; answers how many files. Links are no files of
 * ours, and the last number of each kind stays: by it numbers go on when the log is lost.
 */
export function deleteOldTexts(ralphDir: string, before: Instant): number {
  const logs = join(ralphDir, "logs");
  const texts = readdirSync(logs).flatMap((name) => {
    const [is, kind = "run", number = "0"] = TEXT.exec(name) ?? [];
    return is === undefined ? [] : [{ name, kind, number: Number(number) }];
  });
  const last = new Map<string, number>();
  for (const { kind, number } of texts) last.set(kind, Math.max(number, last.get(kind) ?? 0));
  const isLast = (kind: string, number: number): boolean => kind !== "run" && number === last.get(kind);
  return texts
    .filter(({ kind, number }) => !isLast(kind, number))
    .filter(({ name }) => deleteIfOld(join(logs, name), before)).length;
}

/** What cannot be deleted stays; that is no reason not to work. */
function deleteIfOld(path: string, before: Instant): boolean {
  try {
    const file = lstatSync(path);
    if (!file.isFile() || file.mtimeMs >= before) return false;
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
