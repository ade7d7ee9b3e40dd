import { RalphError } from "../core/ralph-error.ts";
import type { SandboxSettings } from "../core/settings.ts";
import type { Config } from "./schema.ts";

type Kind = Config["sandbox"]["kind"];

/** What agents are to run in; null: nothing. `--sandbox` alone is the configured kind, or the one that needs no set-up. */
export function resolveSandbox(
  { sandbox }: Pick<Config, "sandbox">,
  flag: string | boolean | undefined,
): SandboxSettings | null {
  const kind = kindOf(sandbox.kind, flag);
  if (kind === "none") return null;
  const { network, read, write, env } = sandbox;
  if (kind === "bubblewrap") return { kind, network, image: null, read, write, env };
  if (typeof network === "object")
    throw new RalphError(
      "config",
      '"sandbox.network" is a list of hosts, which the sandbox "docker" cannot keep to',
      {
        hint: 'take bubblewrap (--sandbox bubblewrap), or write network = "on" or "off"',
      },
    );
  if (sandbox.image !== "") return { kind, network, image: sandbox.image, read, write, env };
  throw new RalphError("config", 'the sandbox "docker" needs an image, and "sandbox.image" names none', {
    hint: 'add image = "NAME" to [sandbox]: one that has the agent, git and a shell',
  });
}

function kindOf(configured: Kind, flag: string | boolean | undefined): Kind {
  if (flag === undefined) return configured;
  if (flag === true) return configured === "none" ? "bubblewrap" : configured;
  if (flag === false) return "none";
  if (flag === "bubblewrap" || flag === "docker") return flag;
  throw new RalphError("usage", `--sandbox is "${flag}"; expected bubblewrap or docker`);
}
