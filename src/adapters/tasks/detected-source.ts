import { relative } from "node:path";
import type { SourceIdentity } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { detectSources, type FileKind, type Places } from "./detect-source.ts";
import { KIND_WORDS, openSource } from "./open-source.ts";

/** The task source that a run would find by itself; null when there is none. */
export function detectedSource(places: Places): SourceIdentity | null {
  try {
    return openSource({ is: "auto" }, places).source.identity;
  } catch (error) {
    if (error instanceof RalphError && error.code === "no-tasks") return null;
    throw error;
  }
}

/** A list of tasks that lies in the project; `path` is relative to its root. */
export interface DetectedList {
  readonly path: string;
  readonly kind: FileKind;
  /** What it is, in words. */
  readonly is: string;
}

/** All of them, the one that a run would take by itself first. */
export function detectedLists(places: Places): readonly DetectedList[] {
  return [...detectSources(places)].map(({ path, kind }) => ({
    path: relative(places.root, path),
    kind,
    is: KIND_WORDS[kind],
  }));
}
