import type { ReadStream } from "node:tty";
import { Argument, type Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { answerStop, hookMemory, readEnd, type Places } from "../hook/stop-hook.ts";
import {
  fieldsOf,
  isFields,
  numberOf,
  parsedJson,
  textOf,
  type Fields,
} from "../../core/streams/json-fields.ts";

type HookName = "stop" | "post-tool-use";

export function define(command: Command, act: Act): void {
  command
    .addArgument(
      new Argument("<event>", "what the agent is about to do, or has done").choices([
        "stop",
        "post-tool-use",
      ]),
    )
    .action(act(hook));
}

/** Runs on the agent's side, which it must never break: whatever happens, it answers and ends well. */
async function hook(context: CliContext, event: HookName): Promise<number> {
  const answer = await answerTo(event, context).catch(() => NEUTRAL[event]); // the verdict looks at everything again
  context.print(JSON.stringify(answer));
  return 0;
}

const NEUTRAL: Readonly<Record<HookName, object>> = {
  stop: { decision: "approve" },
  "post-tool-use": {},
};

async function answerTo(event: HookName, context: CliContext): Promise<object> {
  const input = await readInput(process.stdin);
  const { env } = context;
  return event === "stop" ? answerStop(input, placesOf(input, context), env) : answerToolUse(input, env);
}

function placesOf({ cwd: given }: Fields, { cwd, env, dir }: CliContext): Places {
  return {
    folders: [given, env["CLAUDE_PROJECT_DIR"], cwd].flatMap((folder) => textOf(folder) ?? []),
    ralphDir: dir ?? (env["RALPH_DIR"] || ".ralph"),
  };
}

/** Whoever calls us wrote it all at once; one that keeps the pipe open is not waited for. */
const SILENCE_MS = 500;
const INPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What an agent tells its hook on stdin; no fields when that is nothing, or garbage. */
async function readInput(stdin: ReadStream): Promise<Fields> {
  if (stdin.isTTY) return {};
  const chunks: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, SILENCE_MS);
    stdin.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      timer.refresh();
      if (length > INPUT_BYTES_MAX) resolve();
    });
    for (const event of ["end", "error", "close"]) stdin.once(event, resolve);
    stdin.once("close", () => clearTimeout(timer));
  });
  stdin.destroy();
  return fieldsOf(parsedJson(Buffer.concat(chunks).toString("utf8")));
}

type ContextAnswer =
  | Readonly<Record<string, never>>
  | {
      readonly hookSpecificOutput: {
        readonly hookEventName: "PostToolUse";
        readonly additionalContext: string;
      };
    };

/** Tells an agent how full its context window is, once at each threshold. */
export function answerToolUse(input: Fields, env: NodeJS.ProcessEnv): ContextAnswer {
  const transcript = textOf(input["transcript_path"]);
  const used = transcript === null ? null : transcriptTokens(transcript);
  if (used === null) return {};
  const window = windowOf(env);
  const reached = THRESHOLDS.filter(({ percent }) => used * 100 >= percent * window);
  const highest = reached.at(-1);
  if (highest === undefined) return {};
  const isFirst = hookMemory(env, `${textOf(input["session_id"]) ?? ""} ${transcript}`);
  // Those below the highest are told with it.
  const [isNew] = reached.toReversed().map(({ percent }) => isFirst(`context-${percent}`));
  if (isNew !== true) return {};
  const share = `${Math.floor((used * 100) / window)} %`;
  const figures = `${used.toLocaleString("en")} of ${window.toLocaleString("en")} tokens`;
  const additionalContext = `${highest.level}: ${share} of the context window is used (${figures}). ${highest.advice}`;
  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } };
}

const NOTICE = "Keep what is left for the work: read only what you need, and do not begin anything new.";
const WARNING = "Bring what you are doing to an end soon, write down what is left, and commit.";
const CRITICAL =
  "Stop now: commit what works, write down what is left for the next iteration, and end your turn.";

const THRESHOLDS = [
  { percent: 50, level: "NOTICE", advice: NOTICE },
  { percent: 60, level: "NOTICE", advice: NOTICE },
  { percent: 70, level: "WARNING", advice: WARNING },
  { percent: 80, level: "WARNING", advice: WARNING },
  { percent: 90, level: "CRITICAL", advice: CRITICAL },
] as const;

const WINDOW_TOKENS = 200_000;

function windowOf(env: NodeJS.ProcessEnv): number {
  const set = Number(env["CLAUDE_CONTEXT_WINDOW"]);
  return Number.isFinite(set) && set > 0 ? set : WINDOW_TOKENS;
}

/** A single answer of a tool can be long, so more is read when the end does not tell. */
const READ_BYTES = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];
const CHARACTERS_PER_TOKEN = 4;

/** How many tokens of the context window a conversation takes; null when there is no transcript. */
function transcriptTokens(path: string): number | null {
  let length = 0;
  for (const bytesMax of READ_BYTES) {
    const end = readEnd(path, bytesMax);
    if (end === null) return null;
    const reported = reportedTokens(end.text);
    if (reported !== null) return reported;
    length = end.isWhole ? end.text.length : end.bytes;
    if (end.isWhole) break;
  }
  return Math.ceil(length / CHARACTERS_PER_TOKEN);
}

/** What the model itself last reported; what subagents use is not in this window. */
function reportedTokens(text: string): number | null {
  for (const line of text.split("\n").toReversed()) {
    if (!line.includes('"usage"')) continue;
    const { message, isSidechain } = fieldsOf(parsedJson(line));
    const { usage } = fieldsOf(message);
    if (isSidechain === true || !isFields(usage)) continue;
    const counts = PARTS.map((part) => numberOf(usage[part]) ?? 0);
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    // A message that the program made up itself has used nothing.
    if (tokens > 0) return tokens;
  }
  return null;
}

const PARTS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
] as const;
