import { createHash } from "node:crypto";
import { join } from "node:path";
import { priced } from "../../core/limits/price.ts";
import { createRedactor, secretsIn } from "../../core/redact.ts";
import { UNKNOWN_USAGE, type AgentReport } from "../../core/report/agent-report.ts";
import type { AgentFormat, AgentSettings } from "../../core/settings.ts";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import type { AgentRequest, Agents, Progress } from "../../engine/ports.ts";
import { sweep } from "../system/process-sweep.ts";
import { supervise, type SuperviseRequest } from "../system/supervise.ts";
import type { AgentActivity, AgentAdapter, AgentReader } from "./agent-adapter.ts";
import { agentEnvironment, type EnvironmentOptions } from "./agent-environment.ts";
import { createOutputTap } from "./output-tap.ts";
import { withPromptFile } from "./prompt-file.ts";
import { demoAdapter } from "./demo-adapter.ts";
import { streamAdapter } from "./stream-adapter.ts";
import { textAdapter } from "./text-adapter.ts";
import { createFile, createTranscriptWriter, prepareLogs, readStoredTranscript } from "./transcript.ts";

export interface AgentsOptions extends EnvironmentOptions {
  /** Where the agents work. */
  readonly cwd: string;
  /** Known secrets besides those in the environment. */
  readonly secrets?: readonly string[];
  /** What the agent prints, as it comes, without secrets. */
  readonly onOutput?: (chunk: string, iteration: number) => void;
  /** Called as soon as an agent runs. */
  readonly onStart?: () => void;
  /** Another text when the work tree has changed. Without it no agent is ended for being idle. */
  readonly workTree?: () => Promise<string>;
  /** Called every second while an agent runs. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Every format an agent may speak. */
const ADAPTERS: Readonly<Record<AgentFormat, AgentAdapter>> = {
  text: textAdapter,
  demo: demoAdapter,
  claude: streamAdapter("claude"),
  codex: streamAdapter("codex"),
  gemini: streamAdapter("gemini"),
  opencode: streamAdapter("opencode"),
  copilot: streamAdapter("copilot"),
};

const PROGRESS_MS = 1_000;
const LAST_LINE_LENGTH = 200;
const FINAL_TEXT_LENGTH = 4_000;

/** Agents that are programs on this machine. */
export function createAgents(options: AgentsOptions): Agents {
  const inboxes: Inboxes = new Map();
  return {
    run: (request, signal) => run(request, options, inboxes, signal),
    send: async (iteration, text) => (await inboxes.get(iteration)?.(text)) ?? false,
    sweep,
    async recoverReport(iteration, startedAt) {
      const { log, path } = filesOf(iteration, options.ralphDir);
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

/** Whether its cost can be known at all. */
export function tellsUsage({ format }: AgentSettings): boolean {
  return ADAPTERS[format].tellsUsage;
}

/** How to reach the agents that run and take messages, by iteration. */
type Inboxes = Map<number, (text: string) => Promise<boolean>>;

async function run(
  request: AgentRequest,
  options: AgentsOptions,
  inboxes: Inboxes,
  signal: AbortSignal,
): Promise<AgentReport> {
  const adapter = ADAPTERS[request.agent.format];
  const env = agentEnvironment(request, options);
  const secrets = [...(options.secrets ?? []), ...secretsIn(options.baseEnv), ...secretsIn(env)];
  prepareLogs(options.ralphDir);
  const files = filesOf(request.iteration, options.ralphDir);
  const [log, kept] = await Promise.all([createFile(files.log), createFile(files.prompt)]);
  const writer = createTranscriptWriter(log, files.log);
  const prompt = createRedactor(secrets)(request.prompt);
  // Its output comes without secrets, so an echo of the prompt does too.
  const reader = adapter.createReader({ prompt, promise: request.promise, workspace: options.cwd });
  const { onOutput } = options;
  const show = onOutput && ((text: string) => onOutput(text, request.iteration));
  const tap = createOutputTap({ secrets, reader, write: (bytes) => writer.write(bytes), show });
  const stopReporting = reportProgress(request, options, () => ({
    ...reader.activity(),
    outputBytes: tap.bytes(),
  }));
  try {
    const { ending, durationMs, swept } = await withPromptFile(
      {
        prompt: request.prompt,
        cleanPrompt: prompt,
        file: kept,
        path: files.prompt,
        isRead: request.agent.command.some((argument) => argument.includes("{prompt_file}")),
      },
      async (promptFile) => {
        const { command, input } = adapter.command({
          agent: request.agent,
          prompt: request.prompt,
          promptFile,
          mayGetMessages: request.mayGetMessages,
        });
        const { marker, timeoutMs } = request;
        const outputs = { onStdout: tap.stdout, onStderr: tap.stderr };
        const stdin = stdinFor(request, adapter, input, inboxes);
        const watches = watchesFor(request, options, reader);
        const running = supervise(
          { command, cwd: options.cwd, env, marker, timeoutMs, ...watches, ...stdin, ...outputs },
          signal,
        );
        options.onStart?.();
        const result = await running;
        request.onGone();
        return result;
      },
    );
    await tap.end();
    const { model, sessionId: _session, filesWritten: _files, ...result } = reader.result(ending);
    const transcript = { path: files.path, ...(await writer.close()) };
    return {
      ...result,
      usage: priced(result.usage, model, request.agent.prices),
      model,
      ending,
      durationMs,
      transcript,
      finalText: lastWords(result.finalText),
      sweptProcesses: swept,
    };
  } finally {
    inboxes.delete(request.iteration);
    stopReporting();
    await writer.abandon();
  }
}

/** What tells that an agent is idle, or that it need only exit. */
function watchesFor(
  { idleMs }: AgentRequest,
  { workTree }: AgentsOptions,
  reader: AgentReader,
): Pick<SuperviseRequest, "idle" | "isOver"> {
  const toolCalls = (): number => reader.activity().toolCalls;
  return {
    isOver: () => reader.isOver?.() ?? false,
    ...(idleMs > 0 && workTree && { idle: { afterMs: idleMs, toolCalls, workTree } }),
  };
}

/** The prompt, and where messages can follow it, the way to send them. */
function stdinFor(
  { iteration, prompt, mayGetMessages }: AgentRequest,
  { messages }: AgentAdapter,
  input: string | null,
  inboxes: Inboxes,
): Pick<SuperviseRequest, "input" | "onStdin"> {
  if (!mayGetMessages || messages === null) return input === null ? {} : { input };
  return {
    input: messages(prompt),
    onStdin: (write) => inboxes.set(iteration, (text) => write(messages(text))),
  };
}

function filesOf(iteration: number, ralphDir: string): { log: string; prompt: string; path: string } {
  const name = `iteration-${String(iteration).padStart(3, "0")}`;
  const logs = join(ralphDir, "logs");
  return {
    log: join(logs, `${name}.log`),
    prompt: join(logs, `${name}.prompt.md`),
    path: `logs/${name}.log`,
  };
}

function reportProgress(
  { iteration, task, stage, agent, timeoutMs }: AgentRequest,
  { onProgress }: AgentsOptions,
  current: () => AgentActivity & { readonly outputBytes: number },
): () => void {
  if (onProgress === undefined) return () => {};
  const startedMs = performance.now();
  const timer = setInterval(() => {
    const elapsedMs = Math.round(performance.now() - startedMs);
    const { lastLine, ...rest } = current();
    const shortLine = stripEscapes(lastLine.slice(0, 10 * LAST_LINE_LENGTH))
      .trim()
      .slice(0, LAST_LINE_LENGTH);
    onProgress({
      iteration,
      task,
      stage,
      agent: agent.name,
      elapsedMs,
      timeoutMs,
      ...rest,
      lastLine: shortLine,
    });
  }, PROGRESS_MS);
  return () => clearInterval(timer);
}

function lastWords(text: string): string {
  return stripEscapes(text).trim().slice(-FINAL_TEXT_LENGTH).toWellFormed();
}
