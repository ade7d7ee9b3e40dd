/** Replaces secrets in a text: the known ones, and whatever has the shape of a token. Clean text comes back as it is. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = knownValues(secrets);
  return (text) => {
    let clean = text;
    for (const value of known) if (clean.includes(value)) clean = clean.replaceAll(value, REDACTED);
    if (clean.includes(KEY_MARK)) clean = redactKeyBlocks(clean);
    // One cheap test for all shapes: almost all text has none.
    if (!ANY_SHAPE.test(clean)) return clean;
    for (const [shape, replacement] of SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  };
}

/** Values of environment variables that are secret by their name. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined &&
    SECRET_NAME.test(name) &&
    value.length >= SECRET_LENGTH_MIN &&
    !value.startsWith("/")
      ? [value]
      : [],
  );
}

const REDACTED = "[redacted]";
const SECRET_LENGTH_MIN = 8;
const SECRET_NAME = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)$/i;

/**
 * No shape spans a line, and each is linear: what precedes a run of unbounded length is bounded, and a run that
 * can fail at its end can only begin where no other run of the same characters is under way.
 */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/(?<![A-Za-z0-9])sk-[\w-]{20,}/g, REDACTED],
  [/gh[oprsu]_[A-Za-z0-9]{20,}/g, REDACTED],
  [/github_pat_\w{20,}/g, REDACTED],
  [/xox[abeprs]-[A-Za-z0-9-]{10,}/g, REDACTED],
  [/(?:AKIA|ASIA)[0-9A-Z]{16}/g, REDACTED],
  [/AIza[\w-]{35}/g, REDACTED],
  [/([Bb]earer[ \t]{1,4})[\w.~+/-]{16,}=*/g, `$1${REDACTED}`],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, REDACTED],
];

const ANY_SHAPE = new RegExp(
  [
    String.raw`(?<![A-Za-z0-9])sk-[\w-]{20}`,
    "gh[oprsu]_[A-Za-z0-9]{20}",
    String.raw`github_pat_\w{20}`,
    "xox[abeprs]-",
    "A(?:KIA|SIA)[0-9A-Z]{16}",
    String.raw`AIza[\w-]{35}`,
    "[Bb]earer[ \t]",
    String.raw`(?<![\w-])eyJ[\w-]{8}`,
  ].join("|"),
);

/** Longer than any private key in its usual form. */
export const KEY_BLOCK_LENGTH_MAX = 16_384;
const KEY_MARK = "PRIVATE KEY-----";
const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
/** The body of a key whose end is missing: long words of base64, each after white space (or an escaped line end). */
const KEY_BODY = /(?:(?:\s|\\[nr]){1,40}[A-Za-z0-9+/=]{16,})*/y;

/** Where a private key begins that has no end in this text; -1 when there is none. */
export function openKeyBlock(text: string): number {
  if (!text.includes(KEY_MARK)) return -1;
  let open = -1;
  for (const { index } of text.matchAll(KEY_BEGIN)) open = index;
  return open >= 0 && text.lastIndexOf("-----END ") < open ? open : -1;
}

function redactKeyBlocks(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { 0: header, index } of text.matchAll(KEY_BEGIN)) {
    if (index < from) continue;
    kept.push(text.slice(from, index), REDACTED);
    from = endOfKeyBlock(text, index + header.length);
  }
  kept.push(text.slice(from));
  return kept.join("");
}

function endOfKeyBlock(text: string, bodyStart: number): number {
  // The next mark is the block's own end, unless it belongs to another beginning.
  const mark = text.indexOf(KEY_MARK, bodyStart);
  const end = mark < 0 ? -1 : text.lastIndexOf("-----", mark);
  if (end >= bodyStart && text.startsWith("-----END ", end) && mark - bodyStart < KEY_BLOCK_LENGTH_MAX) {
    return mark + KEY_MARK.length;
  }
  KEY_BODY.lastIndex = bodyStart;
  return bodyStart + (KEY_BODY.exec(text)?.[0].length ?? 0);
}

/** The longest first, so that a secret inside another does not leave the rest of it. */
function knownValues(secrets: readonly string[]): readonly string[] {
  const lines = secrets.flatMap((secret) => secret.split(/[\r\n]+/)).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line.length >= SECRET_LENGTH_MIN))].toSorted(
    (a, b) => b.length - a.length,
  );
}
