import type { WorkerRow } from "../../src/core/views/status.ts";
import type { Event, Recorded } from "../../src/core/events.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../../src/core/state.ts";
import { overviewOf, type Around, type Overview } from "../../src/core/views/overview.ts";
import type { StageSettings } from "../../src/core/loop/stages.ts";
import { initialModel, type Message, type Model, type OwnRun, type Request } from "../../src/tui/model.ts";
import { update } from "../../src/tui/update.ts";
import type { Key, NamedKey } from "../../src/tui/key.ts";
import { iterationStarted, runStarted, settings, task, tasksObserved } from "../spec/given.ts";

const START = Date.UTC(2026, 10, 15, 14, 0, 0);
const MINUTE = 60_000;

/** A project as the monitor sees it, at a time that never changes. */
export function scene(
  events: readonly Event[],
  around: Partial<Around> = {},
): { readonly overview: Overview; readonly state: State } {
  const recorded = events.map((event, index): Recorded => ({
    ...event,
    position: index + 1,
    at: START + index * 1_000,
  }));
  const state = recorded.length === 0 ? EMPTY_STATE : evolveAll(recorded);
  const overview = overviewOf(state, {
    project: "shop",
    now: START + 12 * MINUTE,
    mayAct: true,
    isDriven: true,
    progress: [],
    workers: null,
    tail: [],
    calls: 12,
    ...around,
  });
  return { overview, state };
}

const STAGE: StageSettings = {
  name: "coder",
  maxIterations: 15,
  promise: null,
  agent: null,
  model: null,
  loops: true,
  template: null,
};

/** Two lanes at work, a question, a blocked task, something done; titles that are hard to draw. */
export function busyNight(): { readonly overview: Overview; readonly state: State } {
  const login = task("auth-001", { title: "Log in with \x1b[31ma password\x1b[0m\x07" });
  const long = "刷新令牌 👩‍👩‍👧 refresh tokens, and a title that goes on for longer than any window";
  const tokens = task("auth-002", { title: long });
  const page = task("ui-004", { title: "Sessions page" });
  const chart = task("ui-022", { title: "Analytics charts" });
  const old = task("docs-001", { title: "Say hello", done: true });
  const later = ["api-1", "api-2", "api-3"].map((id) => task(id, { title: `Write ${id}` }));
  const stages = [STAGE, { ...STAGE, name: "reviewer" }];
  const limits = {
    ...settings().limits,
    callsPerHour: 100,
    budget: { run: 5, task: null, day: null },
  };
  const coder = { stage: "coder", maxIterations: 15, agent: "claude" };
  const events: readonly Event[] = [
    runStarted({ agent: "claude", lanes: 2, stages, limits }),
    tasksObserved(login, tokens, page, chart, old, ...later),
    {
      type: "question.asked",
      run: "run-1",
      task: page.id,
      iteration: 1,
      question: "Revoke one session\nor all at once?",
      options: ["one", "all"],
      default: "one",
      deadlineAt: START + 42 * MINUTE,
    },
    {
      type: "task.blocked",
      run: "run-1",
      task: chart.id,
      iteration: 2,
      reason: "3 timeouts: 6m, 9m, 13m 30s",
    },
    iterationStarted(3, login, { ...coder, ordinal: 3, lane: 1 }),
    iterationStarted(4, tokens, { ...coder, ordinal: 1, lane: 2 }),
  ];
  return scene(events, {
    progress: [
      {
        iteration: 3,
        task: "auth-001",
        elapsedSeconds: 300,
        timeoutSeconds: 900,
        currentFile: "src/auth/login.ts",
        lastTool: "Edit",
        toolCalls: 11,
        filesTouched: 3,
        costUsd: 0.41,
      },
    ],
    tail: Array.from({ length: 30 }, (_, index) => ({
      position: index + 1,
      at: START + index * 1_000,
      text: index % 3 === 0 ? `▸ auth-001  iteration ${index}` : `  ✔ accepted  ${index} files`,
    })),
  });
}

/** The same night, shared by workers on three machines. */
export function busyTeam(workers: readonly WorkerRow[] = TEAM): {
  readonly overview: Overview;
  readonly state: State;
} {
  const login = task("auth-001", { title: "Log in with a password" });
  const tokens = task("auth-002", { title: "Refresh tokens" });
  const events: readonly Event[] = [
    runStarted({ agent: "claude", lanes: 1_000, shared: true }),
    tasksObserved(login, tokens, task("api-1"), task("api-2")),
    iterationStarted(3, login, { ordinal: 3, lane: 1, agent: "claude", worker: "build-3" }),
    iterationStarted(4, tokens, { ordinal: 1, lane: 2, agent: "claude", worker: "laptop-1" }),
  ];
  return scene(events, { workers, isDriven: workers.length > 0 });
}

const TEAM: readonly WorkerRow[] = [
  worker("build-3", { holds: ["@keeper", "@merger", "auth-001"] }),
  worker("build-4", { is: "vanished", seen: START + 10 * MINUTE }),
  worker("laptop-1", { is: "leaving", lanes: 1, holds: ["auth-002"] }),
  worker("old-9", { is: "gone" }),
];

function worker(id: string, more: Partial<WorkerRow>): WorkerRow {
  const about = { host: `${id}.example.org`, lanes: 4, labels: [], since: START, seen: START + 12 * MINUTE };
  return { id, ...about, is: "here", holds: [], ...more };
}

export function model(
  seen: { readonly overview: Overview; readonly state: State },
  size = { columns: 80, rows: 24 },
  ownRun: OwnRun | null = null,
): Model {
  return initialModel(size, seen.overview, seen.state, ownRun);
}

const NAMED: readonly string[] = [
  "up",
  "down",
  "left",
  "right",
  "page-up",
  "page-down",
  "home",
  "end",
  "enter",
  "escape",
  "tab",
  "back-tab",
  "backspace",
  "delete",
] satisfies readonly NamedKey[];

/** Presses keys: names of keys, `ctrl-x`, or texts letter by letter. */
export function pressing(
  from: Model,
  ...keys: readonly string[]
): { readonly model: Model; readonly requests: readonly Request[] } {
  const pressed = keys.flatMap((key): readonly Key[] => {
    if (NAMED.includes(key)) return [{ is: key as NamedKey }];
    if (key.startsWith("ctrl-")) return [{ is: "ctrl", text: key.slice(5) }];
    return key.split("").map((text) => ({ is: "text", text }));
  });
  return hearing(from, ...pressed.map((key): Message => ({ is: "key", key })));
}

export function hearing(
  from: Model,
  ...messages: readonly Message[]
): { readonly model: Model; readonly requests: readonly Request[] } {
  let now = from;
  const requests: Request[] = [];
  for (const message of messages) {
    const next = update(now, message);
    now = next.model;
    requests.push(...next.requests);
  }
  return { model: now, requests };
}
