import { PLAIN } from "../core/agents.ts";
import { UNKNOWN_USAGE, type AgentReport, type Failure } from "../core/streams/agent-report.ts";
import { NOTHING_FOUND, type Evidence } from "../core/verdict/evidence.ts";
import type { GateResult } from "../core/verdict/checked-gate.ts";
import type { AgentSettings, Settings } from "../core/settings.ts";
import type { AgentRequest, Agents, Gates, InboxFiles, Log, Ports, Workspace } from "../engine/ports.ts";
import { readWords, wordsOf } from "./imagined-agent.ts";
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
  features: ReadonlySet<string>,
): Ports {
  const doubts = features.has("challenge");
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
    workspace: imaginedWorkspace(world, !features.has("evidence"), doubts),
    parallel: null,
    gates: imaginedGates(world),
    inboxFiles: imaginedInboxFiles(world),
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
      const words = wordsOf(world.imagined(request.task), behaviour, request.promise.completion);
      const report = reportOf(world, request, isKilled ? null : words, takenMs);
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

/** Without words the agent was killed. */
function reportOf(
  world: ImaginedWorld,
  { promise, timeoutMs }: AgentRequest,
  words: readonly string[] | null,
  takenMs: number,
): AgentReport {
  const failure: Failure | null =
    words === null ? { class: "agent", message: `timed out after ${Math.round(timeoutMs / 1_000)} s` } : null;
  return {
    ...readWords(words ?? [], promise, failure),
    ending: words === null ? { is: "timed-out", afterMs: timeoutMs } : { is: "exited", code: 0 },
    failure,
    transcript: { path: "logs/imagined.log", bytes: 0, sha256: "" },
    usage: { ...UNKNOWN_USAGE, costUsd: world.priceOf(takenMs) },
    durationMs: takenMs,
    toolCalls: 0,
    sweptProcesses: 0,
  };
}

async function readClaim(
  world: ImaginedWorld,
  request: AgentRequest,
  signal: AbortSignal,
): Promise<AgentReport> {
  const { takesMs, isContent } = world.read(request.task);
  await world.time.sleep(takesMs, signal);
  const [, list = ""] = /\n## Concerns\n[^\n]*\n((?:.*\n)*?)\n## /.exec(request.prompt) ?? [];
  const reason = "as the files show";
  const review = {
    criteria: [{ criterion: 1, answer: isContent ? "met" : "not_met", reason }],
    concerns: [...list.matchAll(/^(\d+)\. /gm)].map(([, number]) => ({
      concern: Number(number),
      answer: isContent ? "harmless" : "real",
      reason,
    })),
  };
  const words = isContent === null ? [] : [`<review>${JSON.stringify(review)}</review>`];
  return reportOf(world, request, words, takesMs);
}

/**
 * Looks at what really changed or, `believing`, takes what the agent says it wrote for written: no setting of Ralph's
 * can do that. If it `doubts`, it also reports lines that switch checks off and files that are not there.
 */
function imaginedWorkspace(world: ImaginedWorld, believes: boolean, doubts: boolean): Workspace {
  const { repository } = world;
  return {
    snapshot: async () => ({ head: repository.head, branch: "main" }),
    hasWritten: async () => false,
    lookAhead: () => {},
    collect: async ({ from, task, taskBase, earlier, cited }) => {
      const seen = (paths: readonly string[]): Evidence["changed"] => {
        const all = [...new Set([...paths, ...(believes ? cited : [])])];
        return { files: all.length, paths: all };
      };
      const changed = seen(repository.changedSince(from.head).paths);
      const changedSinceTaskBegan = seen([...repository.changedSince(taskBase).paths, ...earlier.paths]);
      repository.commit();
      const written = new Set([...changedSinceTaskBegan.paths, ...changed.paths]);
      const { checkFiles, suppressions } = world.doubtsAbout(task);
      return {
        ...NOTHING_FOUND,
        headBefore: from.head,
        headAfter: repository.head,
        changed,
        changedSinceTaskBegan,
        uncommitted: [],
        leftOut: [],
        strayedTo: null,
        marksTakenBack: [],
        phantoms: doubts ? cited.filter((path) => !written.has(path)) : [],
        checkFiles,
        ...(doubts && { suppressions }),
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

function imaginedInboxFiles({ inboxFiles }: ImaginedWorld): InboxFiles {
  return {
    publish: async (file, text) => {
      inboxFiles.set(file, text);
      return text;
    },
    read: async (file) => {
      const text = inboxFiles.get(file);
      return text === undefined ? null : { text, sha256: text };
    },
    withdraw: async (file) => void inboxFiles.delete(file),
  };
}
