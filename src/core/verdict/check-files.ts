import {
  baseOf,
  folderOf,
  hasScriptWord,
  isData,
  isGoal,
  isNamed,
  kindOf,
  takesEffectByItself,
  type Kind,
} from "./check-file-kinds.ts";
import { mergeOldParts, ONLY_FOR_TESTS } from "./old-parts.ts";
import { IS_CODE, mayReachOthers, onlyGains } from "./only-gains.ts";

export interface GateLine {
  readonly command: string;
  readonly cwd: string | null;
}

/** A file that the task changed. The text is null where there is no file, and empty where nobody could read it. */
export interface ChangedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What the second pass of the gates needs done to a file. */
export type SetBack =
  | { readonly path: string; readonly to: "old" }
  | { readonly path: string; readonly to: "gone" }
  | { readonly path: string; readonly to: "merged"; readonly text: string };

/** Whether a changed path may be a check file: asked before anybody reads its text. */
export function mayBeCheckFile(path: string, gates: readonly GateLine[]): boolean {
  if (kindOf(path, gates) !== null || takesEffectByItself(path, gates)) return true;
  return foldersOf(path).some((folder) => isGoal(folder, gates));
}

/** What the tree was like when the task began: new settings can weaken only what was there. */
export interface OldTreeFacts {
  /** Whether the folder had files; the root is "". */
  readonly hasFolder: (folder: string) => boolean;
  readonly hasTests: boolean;
}

/** The files to set back so that checks are as they were and all else is as it is; none: no second pass is needed. */
export function findSetBacks(
  changed: readonly ChangedFile[],
  gates: readonly GateLine[],
  was: OldTreeFacts = { hasFolder: () => true, hasTests: true },
  /** Tests that only gained lines are left as they are. */
  mayGain = true,
): readonly SetBack[] {
  const files = changed.map((file): CheckFile => ({ ...file, kind: kindOf(file.path, gates) }));
  const old = { ...was, gates, mayGain };
  const oldTests = files.flatMap(({ kind, before }) => (kind === "test" && before !== null ? [before] : []));
  const found = files.flatMap((file): SetBack[] => {
    if (file.before === null) return file.after === null ? [] : setBackAdded(file, file.after, old);
    // A script that an old test names is the program under work.
    const mayBeTested = file.kind === "script" && !hasScriptWord(file.path) && !isNamed(file.path, gates);
    if (mayBeTested && oldTests.some((text) => text.includes(baseOf(file.path)))) return [];
    return setBackOld(file, file.before, old);
  });
  const all = [...findGoalFolders(files, old), ...found];
  return all.length === 0 || !was.hasTests ? all : [...all, ...findDependents(files, all, gates)];
}

type CheckFile = ChangedFile & { readonly kind: Kind | null };
type Old = OldTreeFacts & { readonly gates: readonly GateLine[]; readonly mayGain: boolean };

/** A new folder by which make takes a goal for done; one with code in it is there for another reason. */
function findGoalFolders(files: readonly CheckFile[], { gates, hasFolder }: Old): SetBack[] {
  const added = files.filter(({ before, after }) => before === null && after !== null);
  const folders = new Set(added.flatMap(({ path }) => foldersOf(path)));
  const hasCode = (folder: string): boolean =>
    added.some(({ path }) => path.startsWith(`${folder}/`) && IS_CODE.test(path));
  return [...folders]
    .filter((folder) => isGoal(folder, gates) && !hasFolder(folder) && !hasCode(folder))
    .map((path) => ({ path, to: "gone" }));
}

function foldersOf(path: string): readonly string[] {
  const folder = folderOf(path);
  return folder === "" ? [] : [...foldersOf(folder), folder];
}

/** A folder such as .cargo or __mocks__, or a package, has its effect on the folder around it. */
const INNER_FOLDERS =
  /(?:(?:^|\/)(?:\.[^/]+|__\w+__|(?:Test|TAP)(?=\/\w+\.pm$)|[^/]+(?=\/__\w+__\.py$)))*\/?[^/]*$/;

function setBackAdded({ path, kind }: CheckFile, after: string, old: Old): SetBack[] {
  const { gates, hasFolder, hasTests } = old;
  if (!hasFolder(path.replace(INNER_FOLDERS, "")) || (!hasTests && ONLY_FOR_TESTS.test(path))) return [];
  // Where these attributes are gone, git takes them from its index.
  if (baseOf(path) === ".gitattributes") return [{ path, to: "merged", text: "" }];
  const reachesTests = kind === "test" && hasTests && !isNamed(path, gates) && mayReachOthers(after);
  if (takesEffectByItself(path, gates) || reachesTests) return [{ path, to: "gone" }];
  return kind === "mixed" ? merged({ path, before: null, after }, old) : [];
}

function setBackOld({ path, kind, after }: CheckFile, before: string, old: Old): SetBack[] {
  if (kind === null) return [];
  // Without its module declaration an old Rust file has no effect.
  if (after === null) return path.endsWith(".rs") && kind === "mixed" ? [] : [{ path, to: "old" }];
  if (kind === "mixed" || /(?:^|\/)(?:pom\.xml|build\.gradle(?:\.kts)?)$/.test(path))
    return merged({ path, before, after }, old);
  return old.mayGain && kind === "test" && onlyGains(path, before, after) ? [] : [{ path, to: "old" }];
}

function merged(file: Parameters<typeof mergeOldParts>[0], { gates, hasTests }: Old): SetBack[] {
  const text = mergeOldParts(file, gates, hasTests);
  return text === null ? [] : [{ path: file.path, to: "merged", text }];
}

/**
 * New tests and new lines of old tests that need what is set back: a helper, a setting, a build rule. They passed
 * already, and would fail now for no fault of the work.
 */
function findDependents(
  files: readonly CheckFile[],
  found: readonly SetBack[],
  gates: readonly GateLine[],
): readonly SetBack[] {
  const kinds = new Map(files.map(({ path, kind }) => [path, kind]));
  const isTest = ({ path }: SetBack): boolean => kinds.get(path) === "test" || path.endsWith(".rs");
  const needAll = found.length > COMPARED_MAX || !found.every(isTest);
  const done = new Map(found.map((one) => [one.path, one]));
  for (let before = -1; before !== done.size;) {
    before = done.size;
    for (const { path, kind, before: old, after } of files) {
      const isCode = kind === "test" && !isData(path) && IS_CODE.test(path);
      if (!isCode || after === null || done.has(path) || (old === null && isNamed(path, gates))) continue;
      if (needAll || [...done.values()].some((one) => mayNeed(path, after, one)))
        done.set(path, { path, to: old === null ? "gone" : "old" });
    }
  }
  return [...done.values()].slice(found.length);
}

/** To look for more names in every test would take longer than it is worth. */
const COMPARED_MAX = 50;

function mayNeed(path: string, text: string, { path: other, to }: SetBack): boolean {
  const [base, otherBase] = [baseOf(path), baseOf(other)];
  // The same test at its old place, its snapshots, and whatever shares a package in Go.
  if (to !== "gone" && otherBase.startsWith(base)) return true;
  if (base.endsWith(".go") && folderOf(path) === folderOf(other)) return true;
  const stem = otherBase.replace(/(?<=.)\.\w+$/, "");
  const name = /^(?:mod|index|__init__)$/.test(stem) ? baseOf(folderOf(other)) : stem;
  return new RegExp(String.raw`(?<!\w)${name.replaceAll(/\W/g, "\\$&")}(?!\w)`).test(text);
}
