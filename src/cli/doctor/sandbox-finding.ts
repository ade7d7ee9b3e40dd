import { sandboxTroubles } from "../../compose-sandbox.ts";
import type { Config } from "../../config/schema.ts";
import type { CliContext } from "../commands.ts";
import type { Finding } from "./finding.ts";

/** What agents could run in here; only the kind that is configured has to be well. */
export async function sandboxFinding(
  { sandbox: { kind } }: Config,
  root: string,
  { env }: CliContext,
): Promise<Finding> {
  const troubles = await sandboxTroubles(root, env);
  const wanted = kind === "none" ? null : troubles[kind];
  const kinds = (["bubblewrap", "docker"] as const).map(
    (name) => `${name}: ${troubles[name] === null ? "possible" : troubles[name].message}`,
  );
  return {
    name: "sandbox",
    well: wanted === null,
    found: `${kind === "none" ? "none configured" : `${kind} configured`} · ${kinds.join(" · ")}`,
    advice: wanted?.hint ?? null,
  };
}
