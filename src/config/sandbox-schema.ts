import { z } from "zod";

const place = z
  .string()
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), { error: "expected a path that begins with / or ~/" });
const variable = z.string().regex(/^[A-Za-z_]\w*$/, { error: "expected the name of a variable" });

/** `[sandbox]`: what agents run in. */
export const sandbox = z.strictObject({
  kind: z
    .enum(["none", "bubblewrap", "docker"])
    .default("none")
    .describe(
      "what agents run in; gates and the set-up of worktrees always run outside, since they are the project's own",
    ),
  network: z
    .enum(["on", "off"])
    .default("on")
    .describe("`off`: an agent reaches nothing but itself, and so no model that is elsewhere"),
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
