import type { InboxItem } from "../../src/core/views/inbox.ts";
import type { IterationRow } from "../../src/core/views/iteration-record.ts";
import type { RunEntry, Charts } from "../../src/core/views/run-list.ts";
import type { LiveProgress, Overview, Card, Column } from "../../src/core/views/overview.ts";
import type { Timeline, TimeSpan } from "../../src/core/views/timeline.ts";
import type { Ruling } from "../../src/core/verdict/verdict.ts";
import { isoTime } from "../../src/core/time.ts";

/** A night of three lanes, seen at half past seven. */
export const NOW = Date.UTC(2026, 10, 15, 7, 30);
const MINUTE = 60_000;
const START = NOW - 6 * 60 * MINUTE;

export const RUN = "r-2026-11-15-0130";
export const BIG_RUN = "r-2026-11-13-2100";

/** What nobody should ever run. */
export const HOSTILE =
  '<img src=x onerror="document.title=1"><script>document.title="owned"</script> \u001b[31mred\u001b[0m javascript:alert(1)';

const TASKS: readonly (readonly [id: string, title: string])[] = [
  ["auth-001", "Log in with an e-mail address"],
  ["auth-002", "Issue refresh tokens"],
  ["ui-004", "Sessions page: list, revoke, revoke all"],
  ["docs-005", "Write down how tokens rotate"],
  ["db-007", "Import job for the old accounts"],
  ["ui-022", "Analytics charts"],
  ["api-010", "Rate limits on every route"],
  ["api-011", "Errors as problem+json"],
  ["ops-003", "Health check that tells the truth"],
  ["ops-004", "Structured logs"],
];

const VERDICTS: readonly Ruling[] = [
  "continue",
  "accepted",
  "rejected",
  "continue",
  "accepted",
  "failed",
  "decide",
  "blocked",
];
const WHY: Readonly<Record<Ruling, string>> = {
  accepted: "5 files changed since the task began, tests and types passed, tree committed (3f2a91c)",
  continue: "the agent says that there is more to do",
  challenged: "new lines switch checks off: src/a.ts: // eslint-disable-line",
  rejected: 'claims done, but gate "tests" failed: 2 of 41 (refresh rotates token; expired token refused)',
  failed: "the agent was ended after 15m without a sign of life",
  decide: "Revoke one session or all at once?",
  blocked: "the variable SMTP_PASSWORD is not set",
};

export const INBOX: readonly InboxItem[] = [
  {
    task: "ui-004",
    kind: "decide",
    text: "Revoke one session or all at once? The design shows both, and the API has only one route.",
    options: ["one", "all", "both, with a new route"],
    default: "one",
    deadline: isoTime(NOW + 27 * MINUTE),
    iteration: 10_012,
  },
  {
    task: "db-007",
    kind: "blocked",
    text: 'gate "lint" is not installed: eslint was not found on the PATH',
    options: [],
    default: null,
    deadline: null,
    iteration: null,
  },
];

export const PROGRESS: readonly LiveProgress[] = [
  {
    iteration: 10_038,
    task: "auth-002",
    elapsedSeconds: 323,
    timeoutSeconds: 900,
    currentFile: "src/auth/refresh.ts",
    lastTool: "Edit",
    toolCalls: 11,
    filesTouched: 3,
    costUsd: 0.41,
  },
  {
    iteration: 10_039,
    task: "api-010",
    elapsedSeconds: 61,
    timeoutSeconds: 900,
    currentFile: "src/http/middleware/rate-limit.test.ts",
    lastTool: "Bash",
    toolCalls: 4,
    filesTouched: 1,
    costUsd: 0.07,
  },
];

export function overviewNow(inbox: readonly InboxItem[], position: number, now: number): Overview {
  const columns = columnsWith(inbox);
  return {
    project: "auth-service",
    position,
    now,
    mayAct: true,
    isDriven: true,
    status: {
      schema: "ralph.status.v1",
      run: {
        id: RUN,
        state: "running",
        interrupted: false,
        waiting_until: null,
        paused: false,
        outcome: null,
        reason: null,
        exit_code: null,
        started_at: isoTime(START),
        ended_at: null,
        pid: 4711,
        iterations: 39,
        max_iterations: 100,
        stuck_count: 1,
        sandbox: null,
      },
      tasks: TASKS.map(([id, title]) => taskRow(id, title, columns)),
      breaker: { state: "CLOSED", no_progress: 1, same_error: 0, reason: null, since: null, history: [] },
      calls: { used: 34, limit: 40, resets_at: isoTime(NOW + 30 * MINUTE) },
      cost: { usd: 8.42, budget_usd: 20, per_accepted_task_usd: 2.1, forecast_usd: 17.3 },
      inbox,
      proposals: 0,
      messages: [
        {
          id: "m1",
          task: null,
          text: "Prefer small commits.",
          given_at: isoTime(NOW - 40 * MINUTE),
          state: "waiting",
          used: [],
        },
      ],
    },
    board: { columns },
    lanes: [
      { lane: 1, work: work(10_038, "auth-002", "coder", 3, NOW - 323_000) },
      { lane: 2, work: work(10_039, "api-010", "coder", 1, NOW - 61_000) },
      { lane: 3, work: null },
    ],
    progress: PROGRESS,
    workers: null,
    timeLeftMs: 2 * 3_600_000,
    tail: Array.from({ length: 60 }, (_, index) => ({
      position: position - 60 + index,
      at: NOW - (60 - index) * MINUTE,
      text: LINES[index % LINES.length] ?? "",
    })),
    hint: null,
  };
}

const LINES: readonly string[] = [
  "▸ auth-002  Issue refresh tokens                     complex · 15m each · iteration 7 (1/30)",
  "  ✗ rejected  claims done, but tests failed: 2 of 41 (refresh rotates token; expired token refused)",
  "              → the failing output is in the next prompt",
  "  ✔ accepted  5 files, commit 3f2a91c · tests 41 passed, types passed · 6m03s · $0.58",
  '  ? decide    "Revoke one session or all at once?"  options: one, all   default: one in 30m',
];

function work(iteration: number, task: string, stage: string, ordinal: number, startedAt: number) {
  const agent = "claude";
  const about = { iteration, task, stage, agent, ordinal, maxIterations: 15, startedAt };
  return { ...about, timeoutMs: 900_000, worker: null, doing: "agent" as const, says: "" };
}

function columnsWith(inbox: readonly InboxItem[]): readonly Column[] {
  const cards = TASKS.map(([id, title]) => card(id, title));
  const pick = (...ids: readonly string[]): Card[] => cards.filter(({ id }) => ids.includes(id));
  const waiting = inbox.map(({ task, kind, text }): Card => {
    const [id, title] = TASKS.find(([one]) => one === task) ?? [task, task];
    const status = kind === "decide" ? "undecided" : "blocked";
    return { ...card(id, title), status, loop: "Coder (2/15)", waitsFor: text };
  });
  const freed = pick("ui-004", "db-007").filter(({ id }) => !inbox.some(({ task }) => task === id));
  return [
    { is: "todo", name: "Todo", cards: [...freed, ...pick("ui-022", "api-011")] },
    {
      is: "stage",
      name: "Coder",
      cards: [
        live("auth-002", "Issue refresh tokens", 1, "Coder (3/15)", NOW - 323_000),
        live("api-010", "Rate limits on every route", 2, "Coder (1/15)", NOW - 61_000),
      ],
    },
    {
      is: "stage",
      name: "Reviewer",
      cards: pick("ops-004").map((one) => ({ ...one, loop: "Reviewer (1/5)" })),
    },
    { is: "blocked", name: "Blocked", cards: waiting },
    {
      is: "done",
      name: "Done",
      cards: pick("auth-001", "docs-005", "ops-003").map((one) => ({
        ...one,
        status: "done",
        costUsd: 1.37,
      })),
    },
  ];
}

function live(id: string, title: string, lane: number, loop: string, startedAt: number): Card {
  return { ...card(id, title), status: "doing", stage: "coder", lane, loop, startedAt, costUsd: 0.93 };
}

function card(id: string, title: string): Card {
  return {
    id,
    title,
    status: "todo",
    loop: null,
    stage: "coder",
    agent: "claude",
    lane: null,
    startedAt: null,
    complexity: id.startsWith("ui") ? "ui_heavy" : "medium",
    costUsd: null,
    dependsOn: id === "ui-022" ? ["api-010"] : [],
    waitsFor: null,
  };
}

function taskRow(id: string, title: string, columns: readonly Column[]) {
  const column = columns.find(({ cards }) => cards.some((one) => one.id === id));
  return {
    id,
    title,
    status: column?.is === "done" ? ("done" as const) : ("todo" as const),
    stage: "coder",
    iteration: 1,
    max_iterations: 15,
    started_at: null,
    completion_promise: "COMPLETE",
    attempts: 0,
    complexity: "medium",
    timeout_seconds: 900,
    timeout_from: null,
    blocked_reason: null,
    failure: null,
    agent: "claude",
    cost_usd: null,
  };
}

export const RUNS: readonly RunEntry[] = [
  runEntry(RUN, START, null, null, null, 39, 3, 8.42, 3),
  runEntry(
    "r-2026-11-14-0100",
    START - 86_400_000,
    190,
    "completed",
    "all 12 tasks are done",
    41,
    12,
    14.9,
    3,
  ),
  runEntry(
    BIG_RUN,
    START - 2 * 86_400_000,
    900,
    "limited",
    "the budget of $500.00 is used up",
    9_999,
    812,
    500.02,
    2,
  ),
  runEntry(
    "r-2026-11-12-2200",
    START - 3 * 86_400_000,
    44,
    "undecided",
    "ui-004 asks a question",
    9,
    2,
    null,
    1,
  ),
];

function runEntry(
  id: string,
  startedAt: number,
  minutes: number | null,
  outcome: RunEntry["outcome"],
  reason: string | null,
  iterations: number,
  accepted: number,
  costUsd: number | null,
  lanes: number,
): RunEntry {
  const endedAt = minutes === null ? null : startedAt + minutes * MINUTE;
  const about = { id, startedAt, endedAt, outcome, reason, iterations, accepted, costUsd, lanes };
  return {
    ...about,
    exitCode: outcome === "completed" ? 0 : outcome === null ? null : 5,
    source: "TODO.md",
    agent: "claude",
  };
}

/** The newest first: 9,999 of the big run and 39 of tonight. */
export const ROWS: readonly IterationRow[] = Array.from({ length: 10_039 }, (_, index) =>
  rowOf(10_039 - index),
);

function rowOf(iteration: number): IterationRow {
  const isTonight = iteration > 10_000;
  const isOpen = iteration >= 10_038;
  const verdict = isOpen ? null : (VERDICTS[(iteration * 7 + (iteration % 3)) % VERDICTS.length] ?? null);
  const task = isOpen
    ? (PROGRESS.find((one) => one.iteration === iteration)?.task ?? "auth-002")
    : (TASKS[(iteration * 3) % TASKS.length]?.[0] ?? "auth-001");
  const startedAt = isTonight
    ? START + (iteration - 10_001) * 9 * MINUTE
    : START - 2 * 86_400_000 + iteration * 5_000;
  return {
    iteration,
    run: isTonight ? RUN : BIG_RUN,
    task,
    stage: "coder",
    agent: "claude",
    ordinal: (iteration % 15) + 1,
    maxIterations: 15,
    lane: (iteration % (isTonight ? 3 : 2)) + 1,
    startedAt: isOpen ? NOW - 323_000 : startedAt,
    durationMs: isOpen ? null : (3 + ((iteration * 13) % 9)) * (isTonight ? MINUTE : 600),
    claim: verdict === "accepted" || verdict === "rejected" ? "complete" : null,
    verdict,
    why: verdict === null ? null : WHY[verdict],
    files: isOpen ? null : (iteration * 5) % 9,
    costUsd: isOpen ? null : 0.1 + ((iteration * 11) % 60) / 100,
    isCompleted: verdict === "accepted",
    interventions: verdict === "rejected" ? ["gate_failed"] : [],
  };
}

export function timelineOf(run: string, grownBy: number): Timeline | null {
  const entry = RUNS.find(({ id }) => id === run);
  if (entry === undefined) return null;
  const rows = ROWS.filter((row) => row.run === run).toReversed();
  const waits: readonly TimeSpan[] =
    run === RUN
      ? [
          {
            ...NOBODY,
            is: "wait",
            lane: null,
            from: START + 150 * MINUTE,
            to: START + 170 * MINUTE,
            says: "the agent's service refuses calls until 04:20",
          },
        ]
      : [];
  const grown = Array.from({ length: grownBy }, (_, index): TimeSpan => {
    const from = NOW - (grownBy - index) * MINUTE;
    return {
      ...NOBODY,
      is: "merge",
      lane: 3,
      from,
      to: from + 30_000,
      task: "ops-003",
      says: "merged into main",
    };
  });
  const spans = [...rows.flatMap(spansOf), ...waits, ...grown].toSorted((a, b) => a.from - b.from);
  return { run, from: entry.startedAt, to: entry.endedAt, lanes: entry.lanes, spans };
}

const NOBODY = { task: null, iteration: null, agent: null, verdict: null } as const;

function spansOf(row: IterationRow): readonly TimeSpan[] {
  const { lane, task, iteration, agent, verdict, startedAt: from } = row;
  const to = row.durationMs === null ? null : from + row.durationMs * 1.4;
  const about = { lane, task, iteration, agent };
  const agentSpan: TimeSpan = {
    ...about,
    is: "agent",
    from,
    to,
    verdict,
    says: row.why ?? "it is under way",
  };
  if (to === null) return [agentSpan];
  const after = (to - from) / 8;
  const gates: TimeSpan = {
    ...about,
    is: "gates",
    from: to,
    to: to + after,
    verdict: null,
    says: "tests and types passed",
  };
  const merge: TimeSpan = {
    ...about,
    is: "merge",
    from: to + after,
    to: to + 2 * after,
    verdict: null,
    says: "merged into main",
  };
  return verdict === "accepted"
    ? [agentSpan, gates, merge]
    : verdict === "rejected"
      ? [agentSpan, gates]
      : [agentSpan];
}

export function chartsOf(run: string | null): Charts {
  const rows = ROWS.filter((row) => row.run === (run ?? RUN) && row.durationMs !== null).toReversed();
  let usd = 0;
  let accepted = 0;
  const cost: number[] = [];
  const perTask: (number | null)[] = [];
  for (const row of rows) {
    usd += row.costUsd ?? 0;
    accepted += row.isCompleted ? 1 : 0;
    cost.push(usd);
    perTask.push(accepted === 0 ? null : usd / accepted);
  }
  const at = rows.map(({ startedAt }) => startedAt);
  const numbers = rows.map(({ iteration }) => iteration);
  return {
    cost: { name: "cost", x: at, y: cost },
    costPerTask: { name: "cost per accepted task", x: at, y: perTask },
    duration: { name: "duration", x: numbers, y: rows.map(({ durationMs }) => (durationMs ?? 0) / MINUTE) },
    files: { name: "files", x: numbers, y: rows.map(({ files }) => files) },
    interventions: [
      { type: "gate_failed", count: 14 },
      { type: "mid_stream_prompt_injected", count: 6 },
      { type: "evidence_validation_failed", count: 3 },
      { type: "agent_reinforced", count: 1 },
    ],
    forecast: { budgetUsd: 20, spentUsd: 8.42, planUsd: 17.3, reachedAt: null },
  };
}
