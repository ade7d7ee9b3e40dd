import { createHash } from "node:crypto";
import { join } from "node:path";
import { isProgramFormat } from "../../core/agents.ts";
import { dollars, priced } from "../../core/loop/brakes.ts";
import { createRedactor, secretsIn } from "../../core/redact.ts";
import {
  UNKNOWN_USAGE,
  type AgentReport,
  type Ending,
  type Failure,
} from "../../core/streams/agent-report.ts";
import type { AgentSettings } from "../../core/settings.ts";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import type { AgentRequest, Agents, Progress } from "../../engine/ports.ts";
import { sweep } from "../process/process-sweep.ts";
import { supervise, type SuperviseRequest } from "../process/supervise.ts";
import { adapterFor } from "./adapters.ts";
import type { AgentAdapter, AgentReader, AgentResult, ReaderRequest, Send } from "./agent-adapter.ts";
import { PROGRAM_FACTS, programIn } from "./programs/program-belongings.ts";
import type { AgentSandbox } from "../process/agent-sandbox.ts";
import {
  agentEnvironment,
  asReader,
  type EnvironmentOptions,
  iterationFolder,
  type IterationFolder,
  launchOf,
  type LaunchOptions,
  removeIterationFolder,
  startOf,
  withFolder,
  withoutLostSession,
} from "./launch.ts";
import { createOutputTap } from "./output-tap.ts";
import {
  createTranscript,
  prepareLogs,
  type PromptFile,
  readStoredTranscript,
  withPromptFile,
} from "./transcript.ts";

export interface AgentsOptions extends EnvironmentOptions, LaunchOptions {
  /** What the files of each agent begin with in `logs/`. */
  readonly transcripts?: string;
  /** Known secrets besides those in the environment. */
  readonly secrets?: readonly string[];
  /** What the agent prints, as it comes, without secrets. */
  readonly onOutput?: (chunk: string, iteration: number) => void;
  /** Called as soon as an agent runs. */
  readonly onStart?: () => void;
  /** Another text when the work tree has changed. Without it no agent is ended for being idle. */
  readonly workTree?: (root: string | undefined) => Promise<string>;
  /** Called every second while an agent runs. */
  readonly onProgress?: (progress: Progress) => void;
  /** Without it they run like any other program. */
  readonly sandbox?: AgentSandbox;
  /** The clock by which an agent says when it may be asked again; the machine's by default. */
  readonly now?: () => number;
}

const PROGRESS_MS = 1_000;
const LAST_LINE_LENGTH = 200;
const FINAL_TEXT_LENGTH = 4_000;
const FILES_MAX = 200;

/** Agents that are programs on this machine. */
export function createAgents(options: AgentsOptions): Agents {
  const inboxes: Inboxes = new Map();
  return {
    async run(asked, signal) {
      const isReader = asked.part === "reader";
      const request = isReader ? asReader(asked, options.sandbox !== undefined) : asked;
      prepareLogs(options.ralphDir);
      const folder = iterationFolder(request.marker);
      try {
        folder.make(request);
        return await runIn(folder, request, options, inboxes, signal);
      } finally {
        inboxes.delete(request.iteration);
        folder.dispose();
      }
    },
    send: async (iteration, text) => (await inboxes.get(iteration)?.(text)) ?? false,
    async sweep(marker) {
      const ended = await sweep(marker);
      await options.sandbox?.end?.(marker);
      removeIterationFolder(marker);
      return ended;
    },
    async recoverReport(iteration, startedAt) {
      const { log, path } = filesOf({ iteration }, options);
      const stored = await readStoredTranscript(log);
      const { bytes, sha256 } = stored ?? { bytes: 0, sha256: createHash("sha256").digest("hex") };
      return {
        ending: { is: "interrupted" },
        claim: { is: "none" },
        failure: null,
        transcript: { path, bytes, sha256 },
        usage: UNKNOWN_USAGE,
        durationMs: stored === null ? 0 : Math.max(0, Math.round(stored.modifiedMs - startedAt)),
        finalText: lastWords(stored?.tail ?? ""),
        toolCalls: 0,
        sweptProcesses: 0,
      };
    },
  };
}

/** How to reach the agents that run and take messages, by iteration. */
type Inboxes = Map<number, Send>;

async function runIn(
  folder: IterationFolder,
  request: AgentRequest,
  options: AgentsOptions,
  inboxes: Inboxes,
  signal: AbortSignal,
): Promise<AgentReport> {
  const startedMs = performance.now();
  const adapter = adapterFor(request.agent);
  const env = agentEnvironment(request, options, folder.path);
  const secrets = [...(options.secrets ?? []), ...secretsIn(options.baseEnv), ...secretsIn(env)];
  const files = filesOf(request, options);
  const log = createTranscript(files.log);
  const prompt = {
    prompt: request.prompt,
    cleanPrompt: createRedactor(secrets)(request.prompt),
    path: files.prompt,
    isRead: request.agent.command?.some((argument) => argument.includes("{prompt_file}")) ?? false,
  };
  const launch = launchOf(request, options, folder, env);
  const { onOutput } = options;
  const show = onOutput && ((text: string) => onOutput(text, request.iteration));
  const reader = adapter.createReader(readingOf(request, options, prompt, show), launch);
  const spending = watchSpending(request, adapter, reader, inboxes);
  const tap = createOutputTap({ secrets, reader, write: (bytes) => log.write(bytes), show });
  const timer = setInterval(
    () => reportProgress(request, options, startedMs, reader, tap.bytes()),
    PROGRESS_MS,
  );
  let note: string | null = null;
  try {
    const { ending, durationMs, swept } = await withPromptFile(prompt, async (path) => {
      const inside = await startOf(adapter, launch, path, prompt.isRead, options.sandbox);
      const { input, close = () => null, ...started } = inside;
      const { marker, timeoutMs, onGone: onExit } = request;
      const outputs = { onStdout: tap.stdout, onStderr: tap.stderr };
      const onStdin: SuperviseRequest["onStdin"] = (write) => {
        const send = reader.converse?.(write);
        if (send !== undefined && request.part === undefined) inboxes.set(request.iteration, send);
      };
      const stdin = reader.converse ? { onStdin } : input === null ? {} : { input };
      const watches = watchesFor(request, options, reader, spending);
      const how = { cwd: launch.workspace, marker, timeoutMs, onExit, ...watches, ...stdin, ...outputs };
      try {
        const running = supervise({ ...started, ...how }, signal);
        options.onStart?.();
        const result = await running;
        if (result.ending.is !== "exited") await options.sandbox?.end?.(marker);
        // What lived on may have gone on writing.
        if (result.swept > 0) request.onGone();
        return result;
      } finally {
        note = await close();
      }
    });
    await tap.end(note);
    const ended = withoutLostSession(reader.result(ending), ending, launch);
    const result = withFolder(ended, adapter, folder, request);
    const transcript = { path: files.path, ...(await log.close()) };
    const failure = spending.failure(ending) ?? withAdvice(result.failure, request.agent);
    const reported = reportedBy(request.agent, result);
    return { ...reported, failure, ending, durationMs, transcript, sweptProcesses: swept };
  } finally {
    clearInterval(timer);
    await log.abandon();
  }
}

function readingOf(
  { agent: { model, prices }, promise, root }: AgentRequest,
  { cwd, now }: AgentsOptions,
  { cleanPrompt }: PromptFile,
  show: ReaderRequest["show"],
): ReaderRequest {
  return {
    // Its output comes without secrets, so an echo of the prompt does too.
    prompt: cleanPrompt,
    promise,
    workspace: root ?? cwd,
    costOf: (usage, used) => priced(usage, used ?? model, prices).costUsd,
    ...(show && { show }),
    ...(now && { now }),
  };
}

/** What is kept of a result: bounded, with its cost as far as prices tell it. */
function reportedBy(
  { model: asked, prices }: AgentSettings,
  result: AgentResult,
): Omit<AgentReport, "ending" | "durationMs" | "transcript" | "sweptProcesses"> {
  const model = result.model ?? asked;
  return {
    ...result,
    model,
    usage: priced(result.usage, model, prices),
    finalText: lastWords(result.finalText),
    filesWritten: result.filesWritten.slice(0, FILES_MAX),
    ...(result.filesWritten.length > FILES_MAX && { ranCommands: true }),
  };
}

/** What tells that an agent is idle, or that it need only exit. */
function watchesFor(
  { idleMs, root }: AgentRequest,
  { workTree }: AgentsOptions,
  reader: AgentReader,
  spending: Spending,
): Pick<SuperviseRequest, "idle" | "isOver" | "exitMs" | "askToStop" | "watch"> {
  const toolCalls = (): number => reader.activity().toolCalls;
  return {
    isOver: () => reader.isOver?.() ?? false,
    watch: () => (spending.isOver() ? "budget" : reader.isUnreachable?.() === true ? "unreachable" : null),
    ...(reader.cancel && { askToStop: async () => (await reader.cancel?.()) ?? false }),
    ...(reader.exitMs !== undefined && { exitMs: reader.exitMs }),
    ...(idleMs > 0 && workTree && { idle: { afterMs: idleMs, toolCalls, workTree: () => workTree(root) } }),
  };
}

type Spending = ReturnType<typeof watchSpending>;

/** The part of what is left at which an agent is told to come to an end. */
const TOLD_AT = 0.8;
const LAST_WORDS_MS = 30_000;

function watchSpending(
  { budgetUsd = null, iteration, session }: AgentRequest,
  { countsWholeSession = false }: AgentAdapter,
  reader: AgentReader,
  inboxes: Inboxes,
) {
  const before = countsWholeSession ? (session?.used.costUsd ?? 0) : 0;
  let spentUsd = 0;
  let toldAt: number | null = null;
  return {
    /** Whether it has to be ended; asked again and again. It is told before, if it takes messages. */
    isOver(): boolean {
      if (budgetUsd === null) return false;
      spentUsd = Math.max(0, (reader.activity().costUsd ?? 0) - before);
      const send = inboxes.get(iteration);
      if (spentUsd < TOLD_AT * budgetUsd) return false;
      if (toldAt === null)
        void send?.(`Message from Ralph: ${spentInWords(spentUsd, budgetUsd)}. ${COME_TO_AN_END}`);
      toldAt ??= performance.now();
      return spentUsd > budgetUsd && (send === undefined || performance.now() - toldAt >= LAST_WORDS_MS);
    },
    /** The failure that is recorded when an agent was stopped for it. */
    failure(ending: Ending): Failure | null {
      if (budgetUsd === null || ending.is !== "stopped" || spentUsd <= budgetUsd) return null;
      return { class: "agent", kind: "budget", message: `stopped: ${spentInWords(spentUsd, budgetUsd)}` };
    },
  };
}

function spentInWords(spentUsd: number, budgetUsd: number): string {
  return `this iteration has cost ${dollars(spentUsd)} of the ${dollars(budgetUsd)} that the budget had left`;
}

const COME_TO_AN_END =
  "You will be stopped soon. Bring the work into a safe state now, commit what is good, and end your turn.";

/** Says, beside what the program says, how a person brings it back. */
function withAdvice(failure: Failure | null, { command, format }: AgentSettings): Failure | null {
  if (failure === null || (failure.class !== "auth" && failure.kind !== "credit")) return failure;
  const program = isProgramFormat(format) ? format : programIn(command ?? []);
  if (program === null) return failure;
  const { login, credit } = PROGRAM_FACTS[program];
  return { ...failure, advice: failure.kind === "credit" ? credit : login };
}

function filesOf(
  { iteration, part }: Pick<AgentRequest, "iteration" | "part">,
  { ralphDir, transcripts = "iteration" }: AgentsOptions,
): { log: string; prompt: string; path: string } {
  const name = [`${transcripts}-${String(iteration).padStart(3, "0")}`, part].filter(Boolean).join(".");
  const logs = join(ralphDir, "logs");
  return {
    log: join(logs, `${name}.log`),
    prompt: join(logs, `${name}.prompt.md`),
    path: `logs/${name}.log`,
  };
}

function reportProgress(
  { iteration, task, stage, agent: { name: agent }, timeoutMs }: AgentRequest,
  { onProgress }: AgentsOptions,
  startedMs: number,
  reader: AgentReader,
  outputBytes: number,
): void {
  const { lastLine, ...activity } = reader.activity();
  const elapsedMs = Math.round(performance.now() - startedMs);
  const words = stripEscapes(lastLine.slice(0, 10 * LAST_LINE_LENGTH))
    .trim()
    .slice(0, LAST_LINE_LENGTH);
  const about = { iteration, task, stage, agent, elapsedMs, timeoutMs };
  onProgress?.({ ...about, ...activity, outputBytes, lastLine: words });
}

function lastWords(text: string): string {
  return stripEscapes(text).trim().slice(-FINAL_TEXT_LENGTH).toWellFormed();
}
