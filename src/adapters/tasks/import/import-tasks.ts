import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { RalphError } from "../../../core/ralph-error.ts";
import { writeFileAtomically } from "../../system/atomic-file.ts";
import type { GithubPlace } from "../github/github-place.ts";
import { createGithubSource } from "../github/github-source.ts";
import { KIND_WORDS } from "../open-source.ts";
import { importDocument } from "./import-document.ts";
import { importKind } from "./import-kind.ts";
import { importedStories } from "./imported-stories.ts";
import { readDocument } from "./read-document.ts";

export interface ImportPlaces {
  readonly root: string;
  readonly ralphDir: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What is to be imported: a document, or issues. */
export type ImportRequest =
  | { readonly is: "file"; readonly path: string; readonly from: string | undefined }
  | { readonly is: "github"; readonly place: GithubPlace };

/** A `tasks.json` that was made, and is not written yet. */
export interface Imported {
  /** Where it belongs. */
  readonly path: string;
  readonly isThere: boolean;
  readonly json: string;
  readonly count: number;
  /** What it was read as, in words. */
  readonly as: string;
  /** What `--source` would take to work on the original instead. */
  readonly source: string;
  /** What a `tasks.json` cannot say. */
  readonly losses: readonly string[];
}

export async function importTasks(request: ImportRequest, places: ImportPlaces): Promise<Imported> {
  const path = join(places.ralphDir, "tasks.json");
  const target = { path, isThere: existsSync(path) };
  if (request.is === "github") {
    const source = createGithubSource(request.place, places);
    const { tasks } = await source.observe();
    const project = request.place.repo ?? basename(places.root);
    return {
      ...target,
      ...importedStories(project, tasks, []),
      as: "GitHub issues",
      source: source.identity.label,
    };
  }
  const document = readDocument(resolve(places.cwd, request.path), request.path);
  if (document.path === path)
    throw new RalphError("usage", `${document.shown} is the tasks.json that an import would write`, {
      hint: "it is worked on as it is: ralph run",
    });
  const kind = importKind(document.path, document.bytes, request.from);
  const imported = await importDocument(document, kind, basename(places.root));
  return { ...target, ...imported, as: KIND_WORDS[kind], source: document.shown };
}

/** Puts it in its place, whose folder is ready; what is there stays, unless it is forced. */
export function writeImported({ path, isThere, json }: Imported, force: boolean): void {
  if (isThere && !force)
    throw new RalphError("usage", `${path} is there already`, {
      hint: "replace it with --force, or look first: --dry-run",
    });
  writeFileAtomically(path, json);
}
