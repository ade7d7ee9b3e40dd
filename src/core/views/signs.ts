import type { Outcome } from "../events.ts";
import type { TaskStatus } from "../loop/task-status.ts";
import type { Ruling } from "../verdict/verdict.ts";

/** How something looks on every screen: never by its colour alone. */
export interface Sign {
  readonly sign: string;
  readonly look: "good" | "bad" | "ask" | "dim" | "bold";
}

/** Of a verdict; `running`: there is none yet. The word beside the sign is the verdict itself. */
export const VERDICT_SIGNS: Readonly<Record<Ruling | "running", Sign>> = {
  accepted: { sign: "✔", look: "good" },
  continue: { sign: "·", look: "dim" },
  challenged: { sign: "~", look: "ask" },
  rejected: { sign: "✗", look: "bad" },
  failed: { sign: "!", look: "bad" },
  decide: { sign: "?", look: "ask" },
  blocked: { sign: "■", look: "bad" },
  running: { sign: "▸", look: "bold" },
};

export const TASK_SIGNS: Readonly<Record<TaskStatus, Sign>> = {
  todo: { sign: "·", look: "dim" },
  doing: VERDICT_SIGNS.running,
  done: VERDICT_SIGNS.accepted,
  blocked: VERDICT_SIGNS.blocked,
  undecided: VERDICT_SIGNS.decide,
  review: { sign: "◎", look: "ask" },
  failed: VERDICT_SIGNS.failed,
  cancelled: { sign: "⊘", look: "bad" },
  skipped: { sign: "–", look: "dim" },
};

interface OutcomeWords {
  readonly title: string;
  readonly summary: string;
  /** What to type then; null: nothing. */
  readonly command: string | null;
}

/** How a run ended, for a heading and (in capitals) for the summary. */
export const OUTCOME_WORDS: Readonly<Record<Outcome, OutcomeWords>> = {
  completed: { title: "All tasks are done", summary: "COMPLETE", command: null },
  exhausted: { title: "Iteration limit reached", summary: "ITERATION LIMIT", command: "ralph why" },
  blocked: {
    title: "Blocked: it needs a person",
    summary: "BLOCKED",
    command: "ralph blocked --suggest",
  },
  undecided: { title: "A decision is needed", summary: "DECISION NEEDED", command: "ralph inbox" },
  stuck: { title: "Stuck", summary: "STUCK", command: "ralph why" },
  limited: { title: "Limit reached", summary: "CANNOT GO ON NOW", command: "ralph run" },
  misconfigured: { title: "Misconfigured", summary: "MISCONFIGURED", command: "ralph doctor" },
  stopped: { title: "Stopped", summary: "STOPPED", command: null },
};
