import { existsSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fieldsOf, numberOf, textOf, type Fields } from "../../core/report/streams/json-fields.ts";
import { readSnapshot } from "../../core/review/read-stories.ts";
import {
  REVIEW_MODES,
  type ReviewMode,
  type ReviewRules,
  type StoryBefore,
} from "../../core/review/story-review.ts";
import { REVIEW_CAP } from "../../core/review/story-cycle.ts";
import { parsedJson, readText } from "./read-file.ts";

/** A run that is under way, as far as its own file tells. */
export interface ActiveRun {
  /** Ours keeps its files in a folder; a bare one has `ralph/tasks.json`, and its marker in the root. */
  readonly layout: "ours" | "bare";
  readonly root: string;
  /** Where its files are. */
  readonly folder: string;
  /** Relative to the root; what the run itself writes there is not the agent's. */
  readonly ownPaths: readonly string[];
  /** Relative to the root; null for a run whose tasks are not stories. */
  readonly tasks: string | null;
  readonly mode: ReviewMode | null;
  readonly before: readonly StoryBefore[] | null;
  readonly rules: ReviewRules;
  /** Who commits; null when the file does not say. */
  readonly commits: string | null;
  /** Another one for every iteration, if the file is written anew for it. */
  readonly fingerprint: string;
}

export interface Places {
  /** Where the agent works, the surest first. */
  readonly folders: readonly string[];
  /** `--dir`, or what stands for it. */
  readonly ralphDir: string;
}

const MARKER = ".ralph-active";
const ACTIVE = "active.json";

/** The run that the agent belongs to; null when none is under way there. */
export function findActiveRun({ folders, ralphDir }: Places): ActiveRun | null {
  for (const start of folders) {
    for (const root of upwards(start)) {
      const folder = resolve(root, ralphDir);
      // A folder that is given as a whole belongs to the repository, not to each folder in it.
      const isHere = !isAbsolute(ralphDir) || existsSync(join(root, ".git"));
      if (isHere && existsSync(join(folder, ACTIVE))) return ownRun(root, folder);
      if (existsSync(join(root, MARKER))) return bareRun(root);
    }
  }
  return null;
}

/** The folder and those above it, up to the repository's root. */
function* upwards(start: string): Generator<string> {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    yield folder;
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return;
  }
}

function ownRun(root: string, folder: string): ActiveRun {
  const active = join(folder, ACTIVE);
  const inside = relative(root, folder);
  // The folder of a worktree's run lies in another one; the file with the stories has a copy here.
  const own = isInside(inside) ? inside : basename(folder);
  const fields = fieldsIn(active);
  const given = textOf(fields["source"]);
  const found = given ?? tasksIn(root, own);
  const tasks = found !== null && isInside(found) && /\.json$/i.test(found) ? found : null;
  return {
    ...knownOf(fields),
    layout: "ours",
    root,
    folder,
    ownPaths: [`${own}/`, ...(tasks === null ? [] : [tasks])],
    tasks,
    commits: textOf(fields["git_commit"]),
    fingerprint: fingerprintOf(active),
  };
}

function bareRun(root: string): ActiveRun {
  const active = join(root, MARKER);
  return {
    ...knownOf(fieldsIn(active)),
    layout: "bare",
    root,
    folder: join(root, "ralph"),
    ownPaths: [MARKER, "ralph/logs/", "ralph/blocked.txt", "ralph/decide.txt"],
    tasks: "ralph/tasks.json",
    commits: "agent",
    fingerprint: fingerprintOf(active),
  };
}

/** Damaged or not, the run is under way: what it does not tell is not known. */
function fieldsIn(path: string): Fields {
  return fieldsOf(parsedJson(readText(path) ?? ""));
}

function knownOf(fields: Fields): Pick<ActiveRun, "mode" | "before" | "rules"> {
  const mode = fields["iteration_mode"] ?? fields["iterationMode"];
  const cap = numberOf(fields["review_cap"] ?? fields["reviewCap"]);
  return {
    mode: REVIEW_MODES.find((known) => known === mode) ?? null,
    before: readSnapshot(fields["snapshot"] ?? fields["preIterationSnapshot"]),
    rules: {
      cap: cap !== null && cap >= 0 ? cap : REVIEW_CAP,
      skipReview: (fields["skip_review"] ?? fields["skipReview"]) === true,
      story: textOf(fields["story"]),
    },
  };
}

function isInside(path: string): boolean {
  return !isAbsolute(path) && !path.split(/[/\\]/).includes("..");
}

function tasksIn(root: string, own: string): string | null {
  const places = [join(own, "tasks.json"), join(own, "prd.json"), "tasks.json", "prd.json"];
  return places.find((path) => existsSync(join(root, path))) ?? null;
}

function fingerprintOf(path: string): string {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return `${path} ${mtimeMs} ${readText(path) ?? ""}`;
}
