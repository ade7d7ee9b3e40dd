import { textOf, type Fields } from "../../core/report/streams/json-fields.ts";
import { openHookMemory } from "./hook-memory.ts";
import { transcriptTokens } from "./transcript-tokens.ts";

export type ContextAnswer =
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
  const memory = openHookMemory(env, `${textOf(input["session_id"]) ?? ""} ${transcript}`);
  // Those below the highest are told with it.
  const [isFirst] = reached.toReversed().map(({ percent }) => memory.isFirst(`context-${percent}`));
  if (isFirst !== true) return {};
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
