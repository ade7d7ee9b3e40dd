import { z } from "zod";

const variables = z.record(z.string(), z.string());

/** `[agents.NAME]`: a program of the operator's own, or what is to be different about one that we know. */
export const agent = z.strictObject({
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .describe(
      "program and arguments; `{prompt}` and `{prompt_file}` are replaced, otherwise the prompt comes on stdin. Without it: how we call the known agent of this name or `format`",
    ),
  format: z
    .enum(["text", "claude", "codex", "gemini", "opencode", "copilot", "acp"])
    .optional()
    .describe(
      "what it speaks: plain text, the stream of one of these agents, or the Agent Client Protocol; `text` unless said",
    ),
  model: z.string().min(1).optional().describe("which model it uses; its own choice unless said"),
  args: z.array(z.string()).default([]).describe("more arguments for a known agent, after ours"),
  session: z
    .enum(["fresh", "resume"])
    .default("fresh")
    .describe(
      "`resume`: an iteration goes on with the session of the task's iteration before, if this run made it",
    ),
  permission_mode: z
    .enum(["full", "edits", "own"])
    .default("full")
    .describe(
      "what a known agent may do without asking: everything; change files, commands as its own rules say; or only what its own settings allow",
    ),
  script: z
    .string()
    .optional()
    .describe("of the demo agent: the file with its script, relative to the root of the repository"),
  env: variables.default({}).describe("added to the agent's environment"),
  env_deny: z
    .array(z.string())
    .default([])
    .describe('taken out of the agent\'s environment, e.g. `["ANTHROPIC_API_KEY"]`'),
});
