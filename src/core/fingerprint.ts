/** A short text that is the same for equal values and, for all that matters here, for no others. No secret. */
export function fingerprint(value: unknown): string {
  let low = 0x811c9dc5;
  let high = 0x1b873593;
  for (const character of JSON.stringify(value) ?? "") {
    const code = character.codePointAt(0) ?? 0;
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) + (low >>> 7);
  }
  return `${(low >>> 0).toString(16)}${(high >>> 0).toString(16)}`;
}
