import { sandboxTroubles } from "../../compose-sandbox.ts";
import { resolveSandbox } from "../../config/resolve-sandbox.ts";
import type { Config } from "../../config/schema.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { CliContext } from "../commands.ts";
import type { Finding } from "./finding.ts";

const NAMES = {
  bubblewrap: "bubblewrap",
  hosts: "bubblewrap with a list of hosts",
  docker: "docker",
} as const;

/** What agents could run in here; only what is configured has to be well. */
export async function sandboxFinding(
  { sandbox }: Pick<Config, "sandbox">,
  root: string,
  { env }: CliContext,
): Promise<Finding> {
  const troubles = await sandboxTroubles(root, env);
  const wanted = wantedOf(sandbox);
  const trouble = settingsTrouble(sandbox) ?? (wanted === null ? null : troubles[wanted]);
  const kinds = (["bubblewrap", "hosts", "docker"] as const).map(
    (name) => `${NAMES[name]}: ${troubles[name] === null ? "possible" : troubles[name].message}`,
  );
  return {
    name: "sandbox",
    well: trouble === null,
    found: `${wanted === null ? "none" : NAMES[wanted]} configured · ${kinds.join(" · ")}`,
    advice: trouble?.hint ?? null,
  };
}

function wantedOf({ kind, network }: Config["sandbox"]): keyof typeof NAMES | null {
  if (kind === "none") return null;
  return kind === "bubblewrap" && typeof network === "object" ? "hosts" : kind;
}

/** Why what is configured could be had nowhere. */
function settingsTrouble(sandbox: Config["sandbox"]): RalphError | null {
  try {
    resolveSandbox({ sandbox }, undefined);
    return null;
  } catch (error) {
    if (error instanceof RalphError) return error;
    throw error;
  }
}
