import type { TaskId } from "../plan/task.ts";

/** A finding, and the tasks in which it came up; enough tasks make it a standing line of the prompts. */
export interface RecurringFinding {
  /** The guard's name, or `gate:<name>`. */
  readonly rule: string;
  /** The first tasks, at most as many as a lesson takes. */
  readonly tasks: readonly TaskId[];
}

export interface Lesson {
  readonly rule: string;
  readonly tasks: readonly TaskId[];
  readonly sentence: string;
}

const TASKS_FOR_LESSON = 3;
const LESSONS_MAX = 8;
const FINDINGS_MAX = 100;

export function withFinding(
  findings: readonly RecurringFinding[],
  rule: string,
  task: TaskId,
): readonly RecurringFinding[] {
  if (!(rule in SENTENCES) && !rule.startsWith(GATE)) return findings;
  const known = findings.find((finding) => finding.rule === rule);
  if (known === undefined) return [...findings, { rule, tasks: [task] }].slice(-FINDINGS_MAX);
  if (known.tasks.includes(task) || known.tasks.length >= TASKS_FOR_LESSON) return findings;
  return findings.map((finding) =>
    finding === known ? { ...finding, tasks: [...finding.tasks, task] } : finding,
  );
}

export function lessonsOf(findings: readonly RecurringFinding[]): readonly Lesson[] {
  return findings
    .filter(({ tasks }) => tasks.length >= TASKS_FOR_LESSON)
    .slice(-LESSONS_MAX)
    .map(({ rule, tasks }) => ({ rule, tasks, sentence: sentenceOf(rule) }));
}

const GATE = "gate:";

const SENTENCES: Readonly<Record<string, string>> = {
  "no-changes":
    "Write the files with your tools before you claim anything; describing a change is not making it.",
  "phantom-files": "Name only files that you really wrote; look at `git status` before you list them.",
  contradiction: "Do not claim completion while your own words speak of open work.",
  "dirty-tree": "Commit everything before you claim completion.",
  "uncommitted-work": "Leave work in files that can be committed: not too big, no secrets.",
  "protected-paths": "Leave Ralph's configuration, the gates' scripts and the protected paths alone.",
  "gate-definitions": "Leave the scripts and targets that the gates run as they are.",
  "weakened-tests": "Make the code pass the tests; do not delete, skip or empty tests.",
  "off-branch": "Stay on the branch that is checked out.",
  "own-marks": "Leave the marks in the task list alone; they are made for you.",
};

function sentenceOf(rule: string): string {
  if (!rule.startsWith(GATE)) return SENTENCES[rule] ?? rule;
  return `The gate "${rule.slice(GATE.length)}" was red in several tasks: run it yourself before you claim completion.`;
}
