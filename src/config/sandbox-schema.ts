import { z } from "zod";
import { readAllowedHost } from "../core/network/allowed-hosts.ts";

const place = z
  .string()
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), { error: "expected a path that begins with / or ~/" });
const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: "expected the name of a variable" });
const host = z.string().superRefine((text, context) => {
  const entry = readAllowedHost(text);
  if (typeof entry === "string") context.addIssue({ code: "custom", message: entry });
});

/** `[sandbox]`: what agents run in. */
export const sandbox = z.strictObject({
  kind: z
    .enum(["none", "bubblewrap", "docker"])
    .default("none")
    .describe(
      "what agents run in; gates and the set-up of worktrees always run outside, since they are the project's own",
    ),
  network: z
    .union([z.enum(["on", "off"]), z.array(host)])
    .default("on")
    .describe(
      '`off`: an agent reaches nothing but itself, and so no model that is elsewhere; a list: these hosts and nobody else, in bubblewrap only, e.g. `["api.anthropic.com", "*.npmjs.org", "127.0.0.1:5432"]`',
    ),
  image: z.string().default("").describe("of docker: has the agent's program, git and a shell"),
  read: z
    .array(place)
    .default([])
    .describe('further places that agents see and cannot change, e.g. `["~/.cargo", "~/.rustup"]`'),
  write: z
    .array(place)
    .default([])
    .describe('further places that agents may change, e.g. `["~/.cache/pip"]`'),
  env: z
    .array(variable)
    .default([])
    .describe('variables that agents get although they look secret, e.g. `["NPM_TOKEN"]`'),
});
