import { isTestFile } from "./test-files.ts";

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kt|cs|php|rb)$/;
const UNSPECIFIC = /^(?:index|mod|init|main|lib|types|utils?|helpers?|app|test|tests|spec)$/;

/** What a file is about, without what makes it a test: `user` for `user.test.ts`, `test_user.py` and `UserTest.java`. */
export function subjectOf(path: string): string {
  const folders = path.split("/");
  const stem = (folders.pop() ?? "").replace(/\.[^.]+$/, "");
  const subject = normal(
    stem
      .replace(/[._-](?:tests?|specs?|e2e|cy|it)$/, "")
      .replace(/^test_/, "")
      .replace(/^Test(?=[A-Z])|(?:TestCase|Tests?|IT|Spec)$/, ""),
  );
  const folder = folders.findLast((name) => !/^(?:__tests__|tests?|specs?|src)$/.test(name));
  return subject === "" || UNSPECIFIC.test(subject) ? normal(folder ?? subject) : subject;
}

/** What the deleted files that are no tests were about. */
export function deletedSubjects(deletedPaths: readonly string[]): ReadonlySet<string> {
  const programs = deletedPaths.filter((path) => CODE.test(path) && !isTestFile(path));
  return new Set(programs.map(subjectOf).filter((subject) => subject !== ""));
}

/** Whether a test file used one of these before and no longer does. */
export function lostImport(before: string, after: string | null, subjects: ReadonlySet<string>): boolean {
  if (subjects.size === 0) return false;
  const now = importedBy(after ?? "");
  for (const subject of importedBy(before)) {
    if (subjects.has(subject) && !now.has(subject)) return true;
  }
  return false;
}

const IMPORT = /\b(?:import|from|use|using|mod|require\w{0,10})\b[^\n]{0,300}/g;

function importedBy(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [line] of text.matchAll(IMPORT)) {
    for (const word of line.replaceAll(/\.[cm]?[jt]sx?\b/g, "").split(/[^\w-]+/)) found.add(normal(word));
  }
  return found;
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
