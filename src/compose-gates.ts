import { missingProgram, type GatePlace } from "./adapters/gates/missing-program.ts";
import { createGates } from "./adapters/gates/shell-gates.ts";
import { withPluginGates } from "./adapters/plugins/plugin-gates.ts";
import type { Plugins } from "./compose-plugins.ts";
import { OWN_ROOT, type Project } from "./compose-project.ts";
import { allSecretsOf, secretsOf } from "./compose-store.ts";
import { createRedactor, withoutOwnSecrets } from "./core/redact.ts";
import type { GateSettings } from "./core/settings.ts";
import type { Gates } from "./engine/ports.ts";

/** For gates outside of a run; `redact` takes every secret that is known out of a text. */
export async function gatesOf(
  project: Project,
  env: NodeJS.ProcessEnv,
  gates: readonly GateSettings[],
  plugins?: Plugins,
): Promise<{ readonly gates: Gates; readonly redact: (text: string) => string }> {
  const secrets = [...secretsOf(project, env, { agents: [], gates }), ...(await allSecretsOf(project, env))];
  const redact = createRedactor(secrets);
  return { gates: allGatesOf(project, env, redact, plugins), redact };
}

export function allGatesOf(
  project: Project,
  env: NodeJS.ProcessEnv,
  redact: (text: string) => string,
  plugins: Plugins | undefined,
): Gates {
  const place = gatePlace(project, env);
  const { cwd, baseEnv } = place;
  const shell = createGates({ ...place, redact });
  return withPluginGates(shell, { functions: plugins?.functions ?? [], cwd, env: baseEnv, redact });
}

/** The program that a gate needs and this machine lacks; null when there is none. */
export async function missingProgramOf(
  project: Project,
  env: NodeJS.ProcessEnv,
  gate: GateSettings,
): Promise<string | null> {
  return gate.plugin === undefined ? missingProgram(gate, gatePlace(project, env)) : null;
}

function gatePlace({ root }: Project, env: NodeJS.ProcessEnv): GatePlace {
  return { cwd: root, baseEnv: withoutOwnSecrets(env), ownRoot: OWN_ROOT };
}
