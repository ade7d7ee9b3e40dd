import { PLAIN } from "../core/agents.ts";
import { UNKNOWN_USAGE, type AgentReport, type Failure } from "../core/report/agent-report.ts";
import type { Evidence } from "../core/report/evidence.ts";
import type { GateResult } from "../core/report/checked-gate.ts";
import type { AgentSettings, Settings } from "../core/settings.ts";
import type {
  AgentRequest,
  Agents,
  CollectRequest,
  Gates,
  Letters,
  Log,
  Ports,
  Workspace,
} from "../engine/ports.ts";
import { type Behaviour, readWords, wordsOf } from "./imagined-agent.ts";
import type { ImaginedTask, ImaginedWorld } from "./imagined-world.ts";

export const AGENT = "imagined";
export const IMAGINED_AGENT: AgentSettings = { ...PLAIN, name: AGENT, format: "text", command: [AGENT] };
export const SOURCE = { kind: "checklist", label: "TASKS.md", path: "TASKS.md" } as const;
/** The gate whose tool is not installed: production had such ones. */
export const MISSING_GATE = "lint";

/** The ports of the real engine, with an imagined world behind them. */
export function imaginedPorts(
  world: ImaginedWorld,
  log: Log,
  { gates }: Settings,
  workspace: Workspace,
  doubts: boolean,
): Ports {
  return {
    log,
    commands: { agents: [IMAGINED_AGENT], gates },
    source: {
      identity: SOURCE,
      files: [{ path: SOURCE.path, isAgents: false }],
      observe: async () => ({ source: SOURCE, tasks: planOf(world) }),
      demands: async () => ({ checks: [], branch: null }),
      mark: async (id) => void world.marked.add(id),
      markedIn: (bytes) => bytes,
    },
    agents: imaginedAgents(world, doubts),
    workspace,
    beside: null,
    gates: imaginedGates(world),
    letters: imaginedLetters(world),
    notes: { path: "", read: async () => "" },
    clock: world.time,
    followers: [],
  };
}

function planOf(world: ImaginedWorld): readonly ImaginedTask["task"][] {
  return world.tasks.map(({ task }) => (world.marked.has(task.id) ? { ...task, done: true } : task));
}

/** Words that speak against a claim are heard only by who `doubts`. */
function imaginedAgents(world: ImaginedWorld, doubts: boolean): Agents {
  return {
    run: async (request, signal) => {
      if (request.part === "reader") return readClaim(world, request, signal);
      const behaviour = world.begin(request.task, request.marker, request.prompt);
      const isKilled = behaviour.takesMs > request.timeoutMs;
      const takenMs = Math.min(behaviour.takesMs, request.timeoutMs);
      await world.time.sleep(takenMs, signal);
      world.end(request.task, request.iteration, behaviour, takenMs);
      const report = reportOf(world, request, behaviour, isKilled, takenMs);
      const { signals } = report;
      return doubts || signals === undefined
        ? report
        : { ...report, signals: { ...signals, contradictions: [] } };
    },
    send: async () => false,
    sweep: async () => 0,
    recoverReport: () => Promise.reject(new Error("nobody dies in an imagined world")),
  };
}

function reportOf(
  world: ImaginedWorld,
  { task, promise, timeoutMs }: AgentRequest,
  behaviour: Behaviour,
  isKilled: boolean,
  takenMs: number,
): AgentReport {
  const failure: Failure | null = isKilled
    ? { class: "agent", message: `timed out after ${Math.round(timeoutMs / 1_000)} s` }
    : null;
  const words = isKilled ? [] : wordsOf(world.imagined(task), behaviour, promise.completion);
  const { claim, signals, finalText, promise: printed } = readWords(words, promise, failure);
  return {
    ending: isKilled ? { is: "timed-out", afterMs: timeoutMs } : { is: "exited", code: 0 },
    claim,
    failure,
    transcript: { path: "logs/imagined.log", bytes: finalText.length, sha256: "" },
    usage: { ...UNKNOWN_USAGE, costUsd: world.priceOf(takenMs) },
    durationMs: takenMs,
    finalText,
    promise: printed,
    toolCalls: 0,
    sweptProcesses: 0,
    signals,
  };
}

async function readClaim(
  world: ImaginedWorld,
  { task, prompt }: AgentRequest,
  signal: AbortSignal,
): Promise<AgentReport> {
  const { takesMs, isContent } = world.read(task);
  await world.time.sleep(takesMs, signal);
  const [, list = ""] = /\n## Concerns\n[^\n]*\n((?:.*\n)*?)\n## /.exec(prompt) ?? [];
  const reason = "as the files show";
  const review = {
    criteria: [{ criterion: 1, answer: isContent ? "met" : "not_met", reason }],
    concerns: [...list.matchAll(/^(\d+)\. /gm)].map(([, number]) => ({
      concern: Number(number),
      answer: isContent ? "harmless" : "real",
      reason,
    })),
  };
  return {
    ending: { is: "exited", code: 0 },
    claim: { is: "none" },
    failure: null,
    transcript: { path: "logs/imagined.log", bytes: 0, sha256: "" },
    usage: { ...UNKNOWN_USAGE, costUsd: world.priceOf(takesMs) },
    durationMs: takesMs,
    finalText: isContent === null ? "" : `<review>${JSON.stringify(review)}</review>`,
    toolCalls: 0,
    sweptProcesses: 0,
  };
}

/** Looks at what really changed; and, if it `doubts`, at lines that switch checks off and files that are not there. */
export function observingWorkspace(world: ImaginedWorld, doubts: boolean): Workspace {
  const { repository } = world;
  return {
    snapshot: async () => ({ head: repository.head, branch: "main" }),
    hasWritten: async () => false,
    lookAhead: () => {},
    collect: async (request) => {
      const changed = repository.changedSince(request.from.head);
      const sinceTask = repository.changedSince(request.taskBase);
      repository.commit();
      const paths = [...new Set([...sinceTask.paths, ...request.earlier.paths])];
      const written = new Set([...paths, ...changed.paths]);
      const { checkFiles, suppressions } = world.doubtsAbout(request.task);
      return {
        ...evidenceOf(request, repository.head, {
          changed,
          changedSinceTaskBegan: { files: paths.length, paths },
          phantoms: doubts ? request.cited.filter((path) => !written.has(path)) : [],
        }),
        ...(checkFiles && { checkFiles }),
        ...(doubts && suppressions && { suppressions }),
      };
    },
    commitMark: async () => null,
    commitWork: async ({ from }) => ({ is: "committed", head: from.head, left: [] }),
    beforeGates: async () => null,
    leftoversAfterGates: async (before) => before,
    clearLeftovers: async () => {},
    withOldChecks: (_request, use) => use({ root: "", prefix: ["with-old-checks"] }),
    patch: async () => ({ text: "", isCut: false }),
    dirtyPaths: async () => [],
  };
}

/** Believes the agent: what it says it wrote counts as written. No setting of Ralph's can do that. */
export function believingWorkspace(world: ImaginedWorld, doubts: boolean): Workspace {
  const observing = observingWorkspace(world, doubts);
  return {
    ...observing,
    collect: async (request) => {
      const evidence = await observing.collect(request);
      const believed = (paths: readonly string[]): Evidence["changed"] => {
        const all = [...new Set([...paths, ...request.cited])];
        return { files: all.length, paths: all };
      };
      return {
        ...evidence,
        changed: believed(evidence.changed.paths),
        changedSinceTaskBegan: believed(evidence.changedSinceTaskBegan.paths),
        phantoms: [],
      };
    },
  };
}

function evidenceOf(
  { from }: CollectRequest,
  headAfter: string,
  seen: Pick<Evidence, "changed" | "changedSinceTaskBegan" | "phantoms">,
): Evidence {
  return {
    headBefore: from.head,
    headAfter,
    uncommitted: [],
    leftByGates: [],
    leftOut: [],
    strayedTo: null,
    marksTakenBack: [],
    tasksRemoved: [],
    putBack: [],
    refusal: null,
    ...seen,
  };
}

function imaginedGates(world: ImaginedWorld): Gates {
  return {
    check: async (gates, marker, _signal, _root, prefix = []) => {
      const failing = world.failingTasks(marker, prefix.length > 0);
      return gates.map(({ name, required, onMissing }): GateResult => {
        const isMissing = name === MISSING_GATE;
        const isRed = !isMissing && failing.length > 0;
        return {
          name,
          required,
          onMissing,
          status: isMissing ? "missing" : isRed ? "failed" : "passed",
          exitCode: isMissing ? 127 : isRed ? 1 : 0,
          durationMs: 1,
          tail: isRed ? failing.map((id) => `✗ ${id} does what it should`).join("\n") : "",
          tries: 1,
          unmet: null,
        };
      });
    },
  };
}

function imaginedLetters({ letters }: ImaginedWorld): Letters {
  return {
    publish: async (file, text) => {
      letters.set(file, text);
      return text;
    },
    read: async (file) => {
      const text = letters.get(file);
      return text === undefined ? null : { text, sha256: text };
    },
    withdraw: async (file) => void letters.delete(file),
  };
}
