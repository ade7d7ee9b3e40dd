import { basename } from "node:path";
import { RalphError } from "../../../core/ralph-error.ts";
import { kindOf, type FileKind } from "../detect-source.ts";
import { isJson } from "../scan-tasks-json.ts";
import { looksLikeList } from "../task-list/looks-like-list.ts";

/** What `--from` may say, and what it means. */
export const IMPORT_FORMATS = {
  checklist: "checklist",
  roadmap: "roadmap",
  "prd.json": "tasks-json",
  yaml: "task-list",
  taskmaster: "task-list",
  beads: "beads",
  ralphex: "ralphex",
} as const satisfies Record<string, FileKind>;

/** What a document is: as was said, else by its name, else by what is in it. */
export function importKind(path: string, file: Buffer, from: string | undefined): FileKind {
  if (from !== undefined) return named(from);
  if (/\.(?:md|markdown|json|jsonl|ya?ml)$/i.test(path)) {
    const { kind } = kindOf(path, file);
    return kind === "prompt" ? "checklist" : kind;
  }
  const text = file.toString("latin1").trimStart();
  if (text.startsWith("{")) {
    if (isJson(file))
      return looksLikeList(file) && !file.includes('"userStories"') ? "task-list" : "tasks-json";
    return "beads";
  }
  return looksLikeList(file) ? "task-list" : kindOf(`${basename(path)}.md`, file).kind;
}

function named(from: string): FileKind {
  const found = Object.entries(IMPORT_FORMATS).find(([name]) => name === from);
  if (found !== undefined) return found[1];
  throw new RalphError(
    "usage",
    `--from is "${from}"; expected one of ${Object.keys(IMPORT_FORMATS).join(", ")}`,
  );
}
