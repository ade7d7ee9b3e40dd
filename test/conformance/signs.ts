import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until, WORKS, type Steps } from "../e2e/project.ts";

/** A folder in which agents say how far they are, and wait for a word of the test. */
export interface Signs {
  /** For everybody who starts agents. */
  readonly env: Readonly<Record<string, string>>;
  /** Until the agent of the task's iteration (the 3 of 3/30) is at work. */
  begun(task: string, ordinal: number): Promise<void>;
  /** The agents of the task may go on, from now on. */
  letGo(task: string): void;
  remove(): void;
}

export function putUpSigns(): Signs {
  const folder = mkdtempSync(join(tmpdir(), "ralph-signs-"));
  return {
    env: { RALPH_TEST_SIGNS: folder },
    begun: (task, ordinal) =>
      until(`the agent of ${task} is at work, ${ordinal}`, () =>
        existsSync(join(folder, `begun-${task}-${ordinal}`)),
      ),
    letGo: (task) => writeFileSync(join(folder, `go-${task}`), ""),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const SAYS = 'touch "$RALPH_TEST_SIGNS/begun-$RALPH_TASK_ID-$RALPH_ITERATION"';
const WAITS =
  'while test -d "$RALPH_TEST_SIGNS" && ! test -e "$RALPH_TEST_SIGNS/go-$RALPH_TASK_ID"; do sleep 0.05; done';

/** Does the task when it may. */
export const PATIENT: Steps = [{ shell: `${SAYS}; ${WAITS}` }, ...WORKS];
/** Does something for the task, and claims nothing. */
export const GOES_ON: Steps = [
  { shell: 'echo "$RALPH_ITERATION" > "$RALPH_TASK_ID-$RALPH_ITERATION.txt"' },
  { say: "more to do" },
];
/** Is at work until somebody ends it. */
export const HANGS: Steps = [{ shell: SAYS }, { hang: true }];
