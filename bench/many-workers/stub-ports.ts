import { PLAIN } from "../../src/core/agents.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { State } from "../../src/core/state.ts";
import type { AgentReport } from "../../src/core/streams/agent-report.ts";
import { NO_LEFTOVERS, NOTHING_FOUND } from "../../src/core/verdict/evidence.ts";
import type { GateSettings } from "../../src/core/settings.ts";
import { TESTS_GATE } from "../../test/spec/given.ts";
import type { ParallelWork } from "../../src/engine/parallel-ports.ts";
import type { Agents, Clock, Log, Ports, TaskSource, Workspace } from "../../src/engine/ports.ts";

export const AGENT = "stub";

/** Agents, git and gates in memory, which take next to no time and say about as much as real ones do. */
export interface StubOptions {
  readonly worker: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly state: () => State;
  /** The last of them completes its task. */
  readonly iterationsEach: number;
  /** An agent takes a random time up to this. */
  readonly agentMs: number;
}

export function stubPorts(options: StubOptions): Ports {
  const { worker, log, clock, state } = options;
  return {
    log,
    worker,
    commands: {
      agents: [{ name: AGENT, ...PLAIN, format: "text", command: ["true"] }],
      gates: [TESTS_GATE],
    },
    source: stubSource(state),
    agents: stubAgents(options),
    workspace: WORKSPACE,
    parallel: BESIDE,
    gates: { check: (gates) => Promise.resolve(gates.map(passed)) },
    inboxFiles: {
      publish: (_file, text) => Promise.resolve(text),
      read: () => Promise.resolve(null),
      withdraw: () => Promise.resolve(),
    },
    notes: { path: "", read: () => Promise.resolve("") },
    clock,
    followers: [],
  };
}

function stubSource(state: () => State): TaskSource {
  const identity = { kind: "checklist", label: "TODO.md", path: "TODO.md" } as const;
  return {
    identity,
    files: [],
    observe: () => Promise.resolve(state().plan ?? { source: identity, tasks: [] }),
    demands: () => Promise.resolve({ checks: [], branch: null }),
    mark: () => Promise.resolve(),
    takeBackMarks: () => Promise.resolve([]),
    markedIn: (file) => file,
  };
}

function stubAgents({ agentMs, iterationsEach }: StubOptions): Agents {
  return {
    run: async ({ ordinal }) => {
      if (agentMs > 0) await sleep(Math.random() * agentMs);
      const isLast = ordinal >= iterationsEach;
      return { ...REPORT, claim: isLast ? { is: "complete", promise: "COMPLETE" } : { is: "unfinished" } };
    },
    send: () => Promise.resolve(false),
    sweep: () => Promise.resolve(0),
    recoverReport: () => Promise.resolve({ ...REPORT, ending: { is: "interrupted" } }),
  };
}

const REPORT: AgentReport = {
  ending: { is: "exited", code: 0 },
  claim: { is: "none" },
  failure: null,
  transcript: { path: "logs/iteration-0001.log", bytes: 250_000, sha256: "0".repeat(64) },
  usage: { inputTokens: 120_000, outputTokens: 9_000, cacheReadTokens: 800_000, costUsd: 0.42 },
  durationMs: 240_000,
  finalText: "I have written the parser, and tests for it. ".repeat(12),
  promise: "COMPLETE",
  toolCalls: 31,
  sweptProcesses: 0,
  signals: {
    confidence: 100,
    isTestOnly: false,
    isStuck: false,
    isPromiseHidden: false,
    contradictions: [],
    citations: ["src/parser.ts", "src/parser.test.ts"],
    errorSignature: null,
    statusBlock: null,
    exitSignal: null,
    workType: null,
    testsStatus: null,
  },
};

const PATHS = ["src/parser.ts", "src/parser.test.ts", "src/scanner.ts", "docs/grammar.md", "package.json"];
const CHANGED = { files: PATHS.length, paths: PATHS };

let commits = 0;

/** As long as git's. */
function nextCommit(): string {
  commits += 1;
  return commits.toString(16).padStart(40, "0");
}

const WORKSPACE: Workspace = {
  snapshot: () => Promise.resolve({ head: "1".repeat(40), branch: "main" }),
  hasWritten: () => Promise.resolve(true),
  lookAhead: () => {},
  collect: ({ from }) =>
    Promise.resolve({
      ...NOTHING_FOUND,
      headBefore: from.head,
      headAfter: nextCommit(),
      changed: CHANGED,
      changedSinceTaskBegan: CHANGED,
      uncommitted: [],
      leftOut: [],
      strayedTo: null,
      marksTakenBack: [],
    }),
  commitMark: () => Promise.resolve(null),
  commitWork: ({ from }) => Promise.resolve({ is: "committed", head: from.head, left: [] }),
  beforeGates: () => Promise.resolve(null),
  leftoversAfterGates: () => Promise.resolve(NO_LEFTOVERS),
  clearLeftovers: () => Promise.resolve(),
  withOldChecks: (_request, use) => use({ root: "", prefix: [] }),
  patch: () => Promise.resolve({ text: "", isCut: false }),
  dirtyPaths: () => Promise.resolve([]),
};

const BESIDE: ParallelWork = {
  worktrees: {
    open: (task) =>
      Promise.resolve({
        is: "ready",
        root: `/home/worker/.ralph-worktrees/${task}`,
        branch: `ralph/${task}`,
        copied: [],
      }),
    at: (_commit, use) => use({ is: "ready", root: "/home/worker/.ralph-worktrees/@", copied: [] }),
    isGone: () => Promise.resolve(false),
    list: () => Promise.resolve([]),
    remove: () => Promise.resolve(true),
    clearLeftovers: () => Promise.resolve(),
  },
  merging: {
    prepare: ({ mark }) => {
      mark?.apply(Buffer.alloc(0));
      return Promise.resolve({ is: "ready", from: nextCommit(), to: nextCommit() });
    },
    whatMoved: () => Promise.resolve(null),
    advance: () => Promise.resolve({ is: "moved" }),
    rename: () => Promise.resolve(),
    set: () => Promise.resolve({ is: "moved", held: [] }),
    has: () => Promise.resolve(true),
    keep: (branch) => Promise.resolve(branch),
    drop: () => Promise.resolve(),
    revert: () => Promise.resolve({ is: "nothing", from: nextCommit() }),
  },
  checkout: { watch: () => Promise.resolve(() => Promise.resolve(null)) },
  pullRequests: {
    requireUsable: () => Promise.resolve(),
    propose: () => Promise.resolve({ is: "refused", why: "there is nobody" }),
  },
  workspaceAt: () => WORKSPACE,
};

function passed({
  name,
  required,
  onMissing,
}: GateSettings): Awaited<ReturnType<Ports["gates"]["check"]>>[number] {
  const tail = "Test Files  41 passed (41)\n     Tests  312 passed (312)\n  Duration  14.20s\n";
  return {
    name,
    required,
    onMissing,
    status: "passed",
    exitCode: 0,
    durationMs: 14_200,
    tail,
    tries: 1,
    unmet: null,
  };
}
