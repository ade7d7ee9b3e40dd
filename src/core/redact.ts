/** Replaces secrets in a text: the known ones, and whatever has the shape of a token. Clean text comes back as it is. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = knownValues(secrets);
  return (text) => {
    let clean = known === null ? text : text.replace(known, REDACTED);
    if (clean.includes(KEY_MARK)) clean = clean.replace(KEY_BLOCK, REDACTED);
    // Cheap tests for all shapes: almost all text has none.
    if (!mayHaveShape(clean) || !ANY_SHAPE.test(clean)) return clean;
    for (const [shape, replacement] of SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  };
}

/** The same value with every text in it redacted. */
export function redactAll<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (Array.isArray(value)) return value.map((item: unknown) => redactAll(item, redact)) as Value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, redactAll(inner as unknown, redact)]),
  ) as Value;
}

/** The token of `ralph web`. */
export const TOKEN_VARIABLE = "RALPH_WEB_TOKEN";

/** Variables for Ralph alone; bin/ralph has the same list. */
const OWN_SECRETS: readonly string[] = [
  "RALPH_QUEUE_URL",
  "RALPH_NOTIFY_WEBHOOK",
  "RALPH_NOTIFY_SECRET",
  TOKEN_VARIABLE,
];

/** For other programs. An empty queue stays: it says that this machine works alone. */
export function withoutOwnSecrets<Env extends Readonly<Record<string, string | undefined>>>(env: Env): Env {
  const others = Object.entries(env).filter(
    ([name, value]) => !OWN_SECRETS.includes(name) || value?.trim() === "",
  );
  return Object.fromEntries(others) as Env;
}

/** Values of environment variables that are secret by their name, and passwords in addresses. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value.length < SECRET_LENGTH_MIN || isPath(value)) return [];
    if (HEADERS_NAME.test(name)) return headersIn(value);
    return SECRET_NAME.test(name) ? [value] : passwordsIn(value);
  });
}

/** Of OpenTelemetry: `key=value,other=value`, each value as in an address; a scheme before it is no part of a key. */
function headersIn(value: string): readonly string[] {
  return value.split(",").flatMap((pair) => {
    const written = pair.slice(pair.indexOf("=") + 1).trim();
    const forms = [written, decoded(written)];
    return [...forms, ...forms.map((form) => form.replace(/^[A-Za-z]+(?: |%20)+/, ""))];
  });
}

const HEADERS_NAME = /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/;

/** A key's name may hold the file with the key. Base64 begins with a slash as well, and then looks like no path. */
function isPath(value: string): boolean {
  return value.startsWith("/") && !LIKE_BASE64.test(value);
}

const LIKE_BASE64 = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d+/]{20,}={0,2}$/;

/** Whether a variable is secret by its name, or has a password in it. */
export function isSecretVariable(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || passwordsIn(value).length > 0;
}

/** The password in an address, as it stands there and as it is meant; none when there is none. */
export function passwordsIn(address: string): string[] {
  const found = [
    ...address.matchAll(/^[a-z][\w+.-]*:\/\/[^\s:@/?#]*:([^\s/?#]+)@|[?&]password=([^\s&#]+)/gi),
  ];
  return found.flatMap(([, before = "", asked = ""]) => {
    const written = before + asked;
    return [...new Set([written, decoded(written)])];
  });
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The same values as they look inside JSON, by the usual ways of writing it and all of their mixtures. */
export function inJson(secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => {
    const plain = JSON.stringify(secret).slice(1, -1);
    const forms = ESCAPED.flatMap((pattern) => [
      plain.replaceAll(pattern, unicodeEscape),
      plain.replaceAll(pattern, (character) => unicodeEscape(character).toUpperCase().replace("U", "u")),
    ]);
    const all = [plain, ...forms].flatMap((form) => [form, form.replaceAll("/", String.raw`\/`)]);
    return [...new Set(all)].filter((form) => form !== secret);
  });
}

/** What some write as an escape although they need not. */
const ESCAPED = [/[^\x20-\x7e]/g, /[<>&]/g, /[^\x20-\x7e]|[<>&]/g];

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const REDACTED = "[redacted]";
const SECRET_LENGTH_MIN = 8;
const SECRET_NAME = /(?:^|_)(?:KEY|TOKEN|SECRET|PASS|PAT)$|_PWD$|PASSW(?:OR)?D$/i;

/**
 * No shape spans a line, and each is linear: what precedes a run of unbounded length is bounded, and a run that
 * can fail at its end can only begin where no other run of the same characters is under way.
 */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/(?<![A-Za-z0-9])sk-[\w-]{20,}/g, REDACTED],
  [/gh[oprsu]_[A-Za-z0-9]{20,}/g, REDACTED],
  [/github_pat_\w{20,}/g, REDACTED],
  [/(?<![A-Za-z0-9])glpat-[\w-]{20,}/g, REDACTED],
  [/(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36,}/g, REDACTED],
  [/xox[abeprs]-[A-Za-z0-9-]{10,}/g, REDACTED],
  [/(?:AKIA|ASIA)[0-9A-Z]{16}/g, REDACTED],
  [/AIza[\w-]{35}/g, REDACTED],
  [/([Bb]earer[ \t]{1,4})[\w.~+/-]{16,}=*/g, `$1${REDACTED}`],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, REDACTED],
  [/(:\/\/[^\s:@/"'<>]{0,100}:)[^\s@/"'<>]{1,500}@/g, `$1${REDACTED}@`],
  [/(https?:\/\/)[^\s:@/"'<>]{20,200}@/g, `$1${REDACTED}@`],
  [/([?&]password=)[^\s&#"'<>]{1,500}/g, `$1${REDACTED}`],
];

/** Every shape has one of these. So few characters are found many times faster than any shape. */
const OF_SHAPES = /[-_=@AJ]/;

function mayHaveShape(text: string): boolean {
  return OF_SHAPES.test(text) || text.includes("Bearer") || text.includes("bearer");
}

const ANY_SHAPE = new RegExp(
  [
    String.raw`(?<![A-Za-z0-9])sk-[\w-]{20}`,
    "gh[oprsu]_[A-Za-z0-9]{20}",
    String.raw`github_pat_\w{20}`,
    String.raw`(?<![A-Za-z0-9])glpat-[\w-]{20}`,
    "(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}",
    "xox[abeprs]-",
    "A(?:KIA|SIA)[0-9A-Z]{16}",
    String.raw`AIza[\w-]{35}`,
    "[Bb]earer[ \t]",
    String.raw`(?<![\w-])eyJ[\w-]{8}`,
    String.raw`https?:\/\/[^\s:@/"'<>]{20,200}@`,
    "[?&]password=[^\\s&#\"'<>]",
    String.raw`:\/\/[^\s:@/"'<>]{0,100}:[^\s@/"'<>]{1,500}@`,
  ].join("|"),
);

/** Longer than any private key in its usual form. */
export const KEY_BLOCK_LENGTH_MAX = 16_384;

/** Where a private key begins that may go on after the end of this text; -1 when there is none. */
export function openKeyBlock(text: string): number {
  if (!text.includes(KEY_MARK)) return -1;
  const last = [...text.matchAll(KEY_BLOCK)].at(-1);
  if (last === undefined || last.groups?.["end"] !== undefined) return -1;
  return /^[\s\w+/=]{0,100}$/.test(text.slice(last.index + last[0].length)) ? last.index : -1;
}

const KEY_MARK = "PRIVATE KEY-----";
const GAP = String.raw`(?:\s|\\[nr])`;

/**
 * A private key as far as it is there: the first line, then long words of base64. White space may be written as
 * escapes, as in JSON. Text that only mentions the first line loses nothing else.
 */
const KEY_BLOCK = new RegExp(
  [
    "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----",
    String.raw`(?:${GAP}{1,40}(?:Proc-Type|DEK-Info): [\w,-]{1,100})*`,
    `(?:${GAP}{1,40}[A-Za-z0-9+/=]{16,})*`,
    `(?<end>(?:${GAP}{1,40}[A-Za-z0-9+/=]{1,15})?${GAP}{0,40}-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?`,
  ].join(""),
  "g",
);

/** One expression for all; the longest first, so that a secret inside another does not leave the rest of it. */
function knownValues(secrets: readonly string[]): RegExp | null {
  const lines = secrets.flatMap((secret) => secret.split(/[\r\n]+/)).map((line) => line.trim());
  const values = [...new Set(lines.filter((line) => line.length >= SECRET_LENGTH_MIN))];
  if (values.length === 0) return null;
  const longestFirst = values.toSorted((a, b) => b.length - a.length);
  return new RegExp(
    longestFirst.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"),
    "g",
  );
}
