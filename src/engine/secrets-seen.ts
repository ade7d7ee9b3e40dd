import { createRedactor, secretsIn } from "../core/redact.ts";

const seen = new Set<string>();

/** Remembers secrets that were read from the configuration. */
export function noteSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) seen.add(secret);
}

/** Removes the secrets of the environment and those noted so far: the configuration may be what is broken. */
export function knownRedactor(env: NodeJS.ProcessEnv = process.env): (text: string) => string {
  return createRedactor([...secretsIn(env), ...seen]);
}
