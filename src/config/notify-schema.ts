import { z } from "zod";
import { NOTICE_KINDS } from "../core/notices/notice.ts";

/** `[notify]`: how people are told what happens while they are elsewhere. */
export const notify = z.strictObject({
  desktop: z.boolean().default(false).describe("a notification of this machine's desktop"),
  webhook: z
    .string()
    .refine((url) => url === "" || isWebAddress(url), {
      // What is written there may let anybody write to a channel.
      error: 'expected a web address, such as "https://example.com/ralph"',
    })
    .default("")
    .describe(
      "an address to which each notice is posted; whoever knows it can write there, so the variable is the better place",
    ),
  format: z
    .enum(["auto", "json", "slack", "discord"])
    .default("auto")
    .describe(
      "the form of what is posted; `auto` knows Slack and Discord by the address, all else gets JSON",
    ),
  secret: z
    .string()
    .default("")
    .describe(
      "signs what is posted, as `X-Ralph-Signature: sha256=…`, the HMAC of the body; the variable is the better place",
    ),
  command: z
    .string()
    .default("")
    .describe("run by the shell for each notice, which is JSON on its stdin; it has 30 seconds"),
  on: z
    .array(z.enum(NOTICE_KINDS))
    .default([...NOTICE_KINDS])
    .describe(
      "what is worth a notice; `done`: every task is; `ended`: the run is over for another reason, and nobody stopped it",
    ),
});

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}
