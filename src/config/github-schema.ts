import { z } from "zod";

/** `[github]`: which issues are tasks, with `source = "github"`. */
export const github = z.strictObject({
  label: z
    .string()
    .min(1)
    .default("ralph")
    .describe("issues with this label are tasks; whoever may set it decides what agents work on"),
  repo: z.string().default("").describe("`owner/name`; empty: the repository that `gh` finds by the remotes"),
  when_done: z
    .enum(["close", "comment"])
    .default("close")
    .describe(
      "`close`: an accepted issue gets a comment and is closed; `comment`: it gets the comment, loses the label, and people close it",
    ),
});
