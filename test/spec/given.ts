import { expect } from "vitest";
import type { Event, EventOf, Recorded } from "../../src/core/events.ts";
import { DEFAULT_COMPLEXITY } from "../../src/core/loop/iteration-timeout.ts";
import type { ShownWork } from "../../src/core/verdict/reader.ts";
import { beginIteration, type Beginning } from "../../src/core/loop/begin-iteration.ts";
import { decide } from "../../src/core/loop/decide.ts";
import type { Effect } from "../../src/core/loop/effects.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import type { State } from "../../src/core/state.ts";
import { plainTask, type Task } from "../../src/core/plan.ts";
import {
  UNKNOWN_USAGE,
  type AgentReport,
  type Claim,
  type Signals,
} from "../../src/core/streams/agent-report.ts";
import {
  NO_CHANGES,
  NO_LEFTOVERS,
  NOTHING_FOUND,
  type ChangeSet,
  type Evidence,
} from "../../src/core/verdict/evidence.ts";
import type { CheckedGate, GateOutcome } from "../../src/core/verdict/checked-gate.ts";
import type { Settings } from "../../src/core/settings.ts";

/** The loop specified in the language of its log: given these facts, then this is decided. */
export function given(...events: readonly Event[]): Specification {
  return new Specification(events);
}

const START = Date.UTC(2026, 0, 1);

class Specification {
  readonly #events: readonly Event[];
  #now = START + 1_000_000;

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  at(msAfterStart: number): this {
    this.#now = START + msAfterStart;
    return this;
  }

  get state(): State {
    return evolveAll(
      this.#events.map((event, index): Recorded => ({ ...event, position: index + 1, at: START + index })),
    );
  }

  get effects(): readonly Effect[] {
    return decide(this.state, this.#now).effects;
  }

  get wakeAt(): number | null {
    const { wakeAt } = decide(this.state, this.#now);
    return wakeAt === null ? null : wakeAt - START;
  }

  /** Exactly these effects are wanted, by key. */
  wants(...keys: readonly string[]): this {
    expect(this.effects.map((effect) => effect.key)).toEqual(keys);
    return this;
  }

  /** The run should end so. */
  ends(outcome: string): this {
    expect(this.effects).toMatchObject([{ kind: "end-run", outcome }]);
    return this;
  }

  /** The decision that is to be recorded has these events, in this order. */
  decides(...expected: readonly (Partial<Event> & { type: Event["type"] })[]): this {
    expect(this.#decided).toMatchObject(expected);
    expect(this.#decided.map((event) => event.type)).toEqual(expected.map((event) => event.type));
    return this;
  }

  /** Goes on with what was decided recorded. */
  andThen(...more: readonly Event[]): Specification {
    return given(...this.#events, ...this.#decided, ...more);
  }

  /** The prompt that the next iteration of a task would get. */
  nextPrompt(task: Task, work: ShownWork | null = null, notes = ""): string {
    return this.#beginning(task, work, notes)?.prompt ?? "";
  }

  /** The session that the next iteration of a task may go on with. */
  nextSession(task: Task): string | null {
    const beginning = this.#beginning(task);
    if (beginning === null) throw new Error(`no iteration of ${task.id} may start`);
    return beginning.session?.id ?? null;
  }

  /** The task's own count of the next iteration. */
  nextOrdinal(task: Task): number | null {
    return this.#beginning(task)?.started.ordinal ?? null;
  }

  /** The same, of how many. */
  nextCount(task: Task): string {
    const { ordinal, maxIterations } = this.#beginning(task)?.started ?? {};
    return `${ordinal}/${maxIterations}`;
  }

  /** Who would work in the next iteration of a task. */
  nextAgent(task: Task): string | null {
    return this.#beginning(task)?.started.agent ?? null;
  }

  #beginning(task: Task, work: ShownWork | null = null, notes = ""): Beginning | null {
    const around = { head: "h", branch: "main", notes, work };
    return beginIteration(this.state, task.id, 1, around, this.#now);
  }

  get #decided(): readonly Event[] {
    return this.effects.flatMap((effect) => (effect.kind === "record" ? effect.events : []));
  }
}

const RUN = "run-1";

export function task(id: string, more: Partial<Task> = {}): Task {
  return plainTask({ id, title: `Do ${id}`, ...more });
}

export function settings(more: Partial<Settings> = {}): Settings {
  return {
    source: { kind: "checklist", label: "TODO.md", path: "TODO.md" },
    agent: "stub",
    gates: [],
    onlyTasks: null,
    lanes: 1,
    limits: {
      maxIterations: 50,
      maxStuck: 3,
      maxAttempts: 3,
      maxIterationsPerTask: 30,
      retries: 3,
      idleMs: 600_000,
      callsPerHour: 0,
      budget: { run: null, task: null, day: null },
      maxDurationMs: null,
    },
    // Off: it has a specification of its own.
    breaker: { noProgress: 0, sameError: 0, outputDecline: 0, cooldownMs: 0 },
    promise: { completion: "COMPLETE", requireXml: true, verify: true },
    promptTemplate: null,
    mode: "standard",
    timeoutMs: null,
    adaptiveTimeout: {
      enabled: true,
      complexityScaling: true,
      failureScaling: true,
      maxMs: 3_600_000,
      minMs: 60_000,
      perTimeout: 1.5,
      learn: true,
      levels: DEFAULT_COMPLEXITY,
    },
    keepGoing: false,
    noWait: false,
    gatesEveryIteration: false,
    adaptiveIterations: false,
    unblock: { autoSuggest: true, maxAutoAttempts: 1 },
    git: { commit: "ralph", hooks: false, unaccepted: "keep" },
    protect: { paths: [] },
    verify: {
      oldChecks: "auto",
      oldChecksFail: "ask",
      reader: "auto",
      readerAgent: null,
      readerModel: null,
      readers: [],
    },
    interventions: {
      enabled: true,
      thresholdNoFiles: 3,
      thresholdFalseCompletion: 2,
      window: 5,
      rotationDays: 30,
      aggressive: false,
      midStream: false,
    },
    fallbackAgents: [],
    leaveAlone: [],
    ...more,
  };
}

export const TESTS_GATE = {
  name: "tests",
  command: "npm test",
  timeoutMs: 60_000,
  required: true,
  onMissing: "warn",
  cwd: null,
  env: {},
  kind: null,
  retries: 0,
  expect: { exitCode: 0, outputContains: null, outputNotContains: null },
  onBaseline: "require",
} as const;

export function runStarted(more: Partial<Settings> = {}, run = RUN): Event {
  return { type: "run.started", run, settings: settings(more), pid: 1, version: "test" };
}

export function runResumed(more: Partial<Settings> = {}): Event {
  return { type: "run.resumed", run: RUN, settings: settings(more), pid: 2 };
}

export function tasksObserved(...tasks: readonly Task[]): Event {
  return { type: "tasks.observed", run: RUN, plan: { source: settings().source, tasks } };
}

export function iterationStarted(
  iteration: number,
  of: Task,
  more: Partial<EventOf<"iteration.started">> = {},
): Event {
  return {
    type: "iteration.started",
    run: RUN,
    task: of.id,
    iteration,
    stage: "build",
    ordinal: iteration,
    maxIterations: 30,
    lane: 1,
    agent: "stub",
    timeoutMs: 900_000,
    timeoutFrom: "formula",
    complexity: "medium",
    promptSha256: "",
    head: "h0",
    branch: "main",
    marker: `m${iteration}`,
    ...more,
  };
}

export function iterationEnded(
  iteration: number,
  of: Task,
  claim: Claim["is"] | Claim,
  more: Partial<AgentReport> = {},
): Event {
  const report: AgentReport = {
    ending: { is: "exited", code: 0 },
    claim: typeof claim === "string" ? claimOf(claim) : claim,
    failure: null,
    transcript: { path: "logs/iteration-001.log", bytes: 0, sha256: "" },
    usage: UNKNOWN_USAGE,
    durationMs: 1_000,
    finalText: "",
    toolCalls: 0,
    sweptProcesses: 0,
    ...more,
  };
  return { type: "iteration.ended", run: RUN, task: of.id, iteration, report };
}

export function evidence(
  iteration: number,
  of: Task,
  changedFiles: readonly string[],
  more: Partial<Evidence> = {},
): Event {
  const changed: ChangeSet =
    changedFiles.length === 0 ? NO_CHANGES : { files: changedFiles.length, paths: changedFiles };
  return {
    type: "evidence.collected",
    run: RUN,
    task: of.id,
    iteration,
    evidence: {
      headBefore: "h0",
      headAfter: changedFiles.length === 0 ? "h0" : `h${iteration}`,
      changed,
      changedSinceTaskBegan: changed,
      uncommitted: [],
      leftOut: [],
      strayedTo: null,
      marksTakenBack: [],
      ...NOTHING_FOUND,
      ...more,
    },
  };
}

export function gatesChecked(iteration: number, of: Task, ...gates: readonly Partial<CheckedGate>[]): Event {
  const passed: CheckedGate = {
    name: "tests",
    required: true,
    onMissing: "warn",
    status: "passed",
    exitCode: 0,
    durationMs: 1,
    tail: "",
    failures: [],
    baseline: null,
    onBaseline: "require",
    tries: 1,
    unmet: null,
  };
  return {
    type: "gates.checked",
    run: RUN,
    task: of.id,
    iteration,
    gates: gates.map((gate) => ({ ...passed, ...gate })),
    leftovers: NO_LEFTOVERS,
  };
}

function claimOf(is: Claim["is"]): Claim {
  switch (is) {
    case "complete":
      return { is, promise: "COMPLETE" };
    case "blocked":
    case "already-done":
      return { is, reason: "no credentials" };
    case "undecided":
      return { is, question: "this or that?", options: ["this", "that"] };
    default:
      return { is };
  }
}

export function signals(more: Partial<Signals>): Signals {
  return {
    confidence: 0,
    isTestOnly: false,
    isStuck: false,
    isPromiseHidden: false,
    contradictions: [],
    citations: [],
    errorSignature: null,
    statusBlock: null,
    exitSignal: null,
    workType: null,
    testsStatus: null,
    ...more,
  };
}

export function baselineMeasured(
  of: Task,
  ...gates: readonly (Partial<GateOutcome> & { name: string })[]
): Event {
  const passed = { status: "passed", exitCode: 0, durationMs: 1, failures: [] } as const;
  return {
    type: "baseline.measured",
    run: RUN,
    task: of.id,
    head: "h0",
    gates: gates.map((gate) => ({ ...passed, ...gate })),
    leftovers: NO_LEFTOVERS,
  };
}

/** A correction that the next prompt carries. */
export function interventionChosen(
  iteration: number,
  of: Task,
  more: Partial<EventOf<"intervention.chosen">> & { readonly text?: string } = {},
): Event {
  const { text = "do better", ...rest } = more;
  return {
    type: "intervention.chosen",
    run: RUN,
    task: of.id,
    iteration,
    agent: "stub",
    intervention: "no_files_detected",
    severity: "warning",
    rule: "no-files",
    feedback: { iteration, text },
    details: { returnCode: 0, claimedCompletion: true, filesWritten: 0, evidenceCount: 0 },
    isFedBack: true,
    leads: false,
    ...rest,
  };
}
