/** What this process has learnt to be secret, for the one who reports its end: that may come from anywhere. */
const seen = new Set<string>();

export function noteSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) seen.add(secret);
}

export function secretsSeen(): readonly string[] {
  return [...seen];
}
