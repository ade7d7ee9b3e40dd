import type { Event } from "../../core/events.ts";
import { few } from "../../core/few.ts";
import type { TaskState } from "../../core/loop/state.ts";
import type { CheckedGate } from "../../core/report/checked-gate.ts";
import type { OwnWorktree } from "../../core/loop/task-state.ts";
import type { PullRequests } from "../parallel-ports.ts";

interface Proposal {
  readonly about: { readonly run: string; readonly task: string; readonly iteration: number };
  readonly title: string;
  readonly known: TaskState;
  readonly worktree: OwnWorktree;
  readonly gates: readonly CheckedGate[];
  /** By which the merge marks the task in its source. */
  readonly closing: string | null;
}

/** Leaves it to people to bring the work to the base. May be repeated: there is one pull request. */
export async function proposeTask(
  { about, title, known, worktree, gates, closing }: Proposal,
  pullRequests: PullRequests,
): Promise<readonly Event[]> {
  const { branch, base } = worktree;
  const passed = gates.filter(({ status }) => status === "passed").map(({ name }) => name);
  const count = known.allIterations === 1 ? "one iteration" : `${known.allIterations} iterations`;
  const body = [
    title === about.task ? `Task \`${about.task}\`` : `Task \`${about.task}\`: ${title}`,
    `Accepted after ${count} (run ${about.run}, iteration ${about.iteration}).`,
    passed.length === 0
      ? "No gate is configured."
      : `Merged into ${base} as it was then, these pass: ${few(passed, 20)}.`,
    ...(closing === null ? [] : [closing]),
  ].join("\n\n");
  const answer = await pullRequests.propose({ branch, base, title: `${about.task}: ${title}`, body });
  return answer.is === "proposed"
    ? [{ ...about, type: "task.proposed", url: answer.url }]
    : [{ ...about, type: "merge.held", why: `${answer.why}; settle that, then: ralph run` }];
}
