// Recordings of the Agent Client Protocol: both sides, one message a line. What they must come to is written from
// what is known of the runs themselves.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FailureClass, Usage } from "../../src/core/streams/agent-report.ts";

export interface RecordedConversation {
  readonly name: string;
  readonly claim: "complete" | "none";
  readonly finalText: RegExp;
  readonly files: readonly string[];
  readonly tools: number;
  readonly lastTool: string;
  readonly session: string;
  readonly usage: Usage;
  readonly model: string | null;
  readonly failure: FailureClass | null;
}

/** One line: what one side said, with the time and the direction. */
export interface Line {
  readonly isAgent: boolean;
  readonly message: {
    readonly id?: number;
    readonly method?: string;
    readonly params?: { readonly prompt?: readonly { readonly text: string }[] };
  };
}

export const FOLDER = join(import.meta.dirname, "..", "recordings", "acp");

/** Without the notes of whoever recorded it. */
export function linesOf({ name }: RecordedConversation): readonly Line[] {
  return readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line["message"] & { readonly dir?: string; readonly ms?: number })
    .filter(({ dir }) => dir !== undefined)
    .map(({ dir, ms: _ms, ...message }) => ({ isAgent: dir === "a→c", message }));
}

type Numbers = readonly [input: number, output: number, cacheRead: number | null, costUsd: number | null];

function recorded(
  name: string,
  session: string,
  [inputTokens, outputTokens, cacheReadTokens, costUsd]: Numbers,
  more: Partial<RecordedConversation>,
): RecordedConversation {
  const usage = { inputTokens, outputTokens, cacheReadTokens, costUsd };
  return { ...DID, name, session, usage, model: null, ...more };
}

/** Wrote NOTE.md with one call and committed it with another. */
const DID = {
  claim: "complete",
  finalText: /^All work is finished\.\n[^]*<promise>COMPLETE<\/promise>$/,
  files: ["NOTE.md"],
  tools: 2,
  lastTool: "execute",
  failure: null,
} as const;
/** Was told something while it slept, and says so. */
const HEARD = {
  claim: "none",
  finalText: /^SEEN: \["Create NOTE\.md and commit it\.","INJECT: also mention bananas"\]$/,
  files: [],
  tools: 1,
} as const;

const CLAUDE = { model: "claude-opus-5-5", lastTool: "Bash" };
const CODEX = { model: "gpt-5.5", lastTool: "exec_command" };
const OPENCODE = { model: "scripted/scripted-model" };

export const CONVERSATIONS: readonly RecordedConversation[] = [
  recorded(
    "claude-agent-acp-success",
    "e2fb4305-a156-4c78-80ce-e694e508a10c",
    [3_900, 123, 1_500, 0.02486],
    CLAUDE,
  ),
  // The end of the command in the background began another turn, after the answer to ours.
  recorded("claude-agent-acp-steering", "767a383c-4c6c-4d9a-a064-af99baa8349e", [2_500, 81, 1_000, 0.03034], {
    ...CLAUDE,
    ...HEARD,
  }),
  recorded("claude-agent-acp-cancel", "004105bb-02e6-45ed-829c-e88ebd69352f", [1_200, 40, 500, 0.0118], {
    ...CLAUDE,
    claim: "none",
    finalText: /^Running something long\.$/,
    files: [],
    tools: 1,
    failure: "agent",
  }),
  recorded("codex-acp-success", "01a1dd25-73e1-72c1-94eb-5b3c68c3dcb3", [1_800, 123, 1_500, null], CODEX),
  recorded("codex-acp-steering", "01a1dd22-e478-7333-8b79-6bd017e3a1bb", [1_000, 80, 1_000, null], {
    ...CODEX,
    ...HEARD,
  }),
  recorded("copilot-success", "c32c2e92-682e-42e9-b73e-4962c9b44f80", [1_800, 123, 1_500, null], {}),
  // What came from the cache is not told apart.
  recorded("gemini-success", "b1f864a7-dbda-445d-9b7f-a65fa5b4488e", [3_300, 123, null, null], {
    model: "gemini-2.5-pro",
  }),
  // Only the last step is told, but for the cost.
  recorded("opencode-success", "ses_e22e18975ffeVAeAUptCUTnW0V", [700, 42, 500, 0.007695], OPENCODE),
  recorded("opencode-inject", "ses_e22dfd2c4ffet8WWivCalZTCRS", [500, 40, 500, 0.0045], {
    ...OPENCODE,
    ...HEARD,
  }),
];
