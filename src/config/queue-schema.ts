import { z } from "zod";
import { durationBetween } from "./duration-schema.ts";

/** `[queue]`: where machines that work together keep what they know. */
export const queue = z.strictObject({
  url: z
    .string()
    .refine((url) => url === "" || isDatabase(url), {
      // What is written there may hold a password.
      error: 'expected the address of a Postgres database, such as "postgres://user@host:5432/name"',
    })
    .default("")
    .describe(
      "the Postgres database that the project's log and its waiting tasks are in, for several machines; empty: this machine works alone",
    ),
  lease: durationBetween("2s", "1h")
    .prefault("30s")
    .describe("a worker that says nothing for so long counts as dead, and another goes on with its tasks"),
});

function isDatabase(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url);
}
