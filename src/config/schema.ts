import { z } from "zod";
import { parseDuration } from "../core/duration.ts";

const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const ms = parseDuration(String(value));
  if (ms !== null) return ms;
  context.addIssue({ code: "custom", message: 'expected a duration such as "90s", "45m", "2h" or "1h30m"' });
  return z.NEVER;
});

const count = z.number().int().min(0);
const variables = z.record(z.string(), z.string());

const agent = z.strictObject({
  command: z.array(z.string()).min(1).optional(),
  /** Of the demo agent: the file with its script, relative to the root of the repository. */
  script: z.string().optional(),
  env: variables.default({}),
  env_deny: z.array(z.string()).default([]),
});

const gate = z.strictObject({
  name: z.string().min(1),
  command: z.string().min(1),
  timeout: duration.default(600_000),
  required: z.boolean().default(true),
  on_missing: z.enum(["warn", "fail", "skip"]).default("warn"),
  cwd: z.string().optional(),
  env: variables.default({}),
});

/** Everything that may stand in `.ralph/ralph.toml`, with its defaults. */
export const configSchema = z.strictObject({
  agent: z.string().min(1).default("claude"),
  source: z.string().min(1).default("auto"),
  mode: z.enum(["speed", "standard", "thorough"]).default("standard"),
  run: z
    .strictObject({
      max_iterations: count.min(1).default(50),
      max_stuck: count.default(3),
      max_attempts: count.default(3),
      keep_going: z.boolean().default(false),
      gates_every_iteration: z.boolean().default(false),
      retries: count.default(3),
    })
    .prefault({}),
  promise: z
    .strictObject({
      completion: z.string().min(1).default("COMPLETE"),
      require_xml: z.boolean().default(true),
    })
    .prefault({}),
  gates: z.array(gate).default([]),
  agents: z.record(z.string(), agent).default({}),
  git: z
    .strictObject({ commit: z.enum(["ralph", "agent"]).default("ralph"), hooks: z.boolean().default(false) })
    .prefault({}),
});

export type Config = z.output<typeof configSchema>;
