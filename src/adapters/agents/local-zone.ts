let known: string | null = null;

/** The machine's. Asking for it is slow, and it does not change. */
export function localZone(): string {
  return (known ??= Intl.DateTimeFormat().resolvedOptions().timeZone);
}
