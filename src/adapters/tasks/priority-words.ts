const WORDS: Readonly<Record<string, number>> = {
  critical: 0,
  urgent: 0,
  high: 1,
  medium: 2,
  normal: 2,
  low: 3,
};

/** What people and programs write for a priority: `2`, `P2`, `high`. Lower goes first; null: none of these. */
export function readPriority(text: string): number | null {
  const plain = text.trim().toLowerCase();
  const digits = /^p?(-?\d{1,9}(?:\.\d{1,9})?)$/.exec(plain)?.[1];
  if (digits !== undefined) return Number(digits);
  return Object.hasOwn(WORDS, plain) ? (WORDS[plain] ?? null) : null;
}
