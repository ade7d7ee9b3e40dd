import { isPath, redactNamed, redactTokens, REDACTED, SECRET_NAME } from "./secret-shapes.ts";

/** Replaces secrets in a text: the known ones, and whatever has the shape of one. Clean text comes back as it is. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = knownValues(secrets);
  return (text) => {
    const unknown = known === null ? text : text.replace(known, REDACTED);
    return redactNamed(redactTokens(redactKeys(unknown)));
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

const SECRET_LENGTH_MIN = 8;

/** Longer than any private key in its usual form. */
export const KEY_BLOCK_LENGTH_MAX = 16_384;

/** Where a private key begins that may go on after the end of this text; -1 when there is none. */
export function openKeyBlock(text: string): number {
  if (!mayHaveKey(text)) return -1;
  const last = [...text.matchAll(KEY_BLOCK)].at(-1);
  if (last === undefined || last[1] !== undefined) return -1;
  return MAY_BE_KEY.test(text.slice(last.index + last[0].length)) ? last.index : -1;
}

function mayHaveKey(text: string): boolean {
  return text.includes(KEY_MARK) || KEY_START.test(text);
}

function redactKeys(text: string): string {
  if (!mayHaveKey(text)) return text;
  let clean = text.replace(KEY_BLOCK, REDACTED);
  for (const tail of [...clean.matchAll(KEY_TAIL)].toReversed())
    clean = `${clean.slice(0, tail.index - (tail[1]?.length ?? 0))}${REDACTED}${clean.slice(tail.index + tail[0].length)}`;
  return clean;
}

const KEY_MARK = "PRIVATE KEY";
const TITLE = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?:-{4,5}| -{4})";
const BASE64 = "[A-Za-z0-9+/=]";

/** What stands between the lines of a key where somebody shows it: escapes, line numbers, marks of diffs and quotes. */
const GAP = [
  String.raw`(?:\n|\\n)[\w./-]{1,100}[:-]\d{1,7}[:-]`,
  String.raw`[^A-Za-z0-9+/=\\"]`,
  // What ends a text in JSON ends a key, unless the next text is the next line.
  String.raw`"(?=,\s{0,9}\\{0,9}"${BASE64}{40})|"(?![,:}\]])`,
  String.raw`\\(?:[nrt]|u[\dA-Fa-f]{4})?`,
  String.raw`\d{1,7}(?!${BASE64})`,
  String.raw`[+/]{1,3}(?!${BASE64})`,
].join("|");
const WORDS = `(?:(?:${GAP}){0,60}${BASE64}{16,})*`;

/** How the bytes of a key begin, whose first line need not be there: PKCS#1, PKCS#8, elliptic curves, OpenSSH. */
const BYTES = String.raw`MII[\w+/]{2}[AQgw]IBA|MII[\w+/]{5}BgkqhkiG9w0BBQ|MHcCAQEE|MI[GH][\w+/]AgE|MC4CAQAw|b3BlbnNzaC1rZXktdjE`;
const KEY_START = new RegExp(BYTES);

/**
 * A private key as far as it is there: its first line or its first bytes, then long words of base64. Text that only
 * mentions the first line loses nothing else. The group is its last line.
 */
const KEY_BLOCK = new RegExp(
  [
    `(?:-{4,5} ?BEGIN ${TITLE}(?:(?:${GAP}){1,60}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\\n\\\\]{0,100})*|(?:${BYTES})${BASE64}{8,})`,
    WORDS,
    `((?:(?:${GAP}){1,60}${BASE64}{1,15}){0,2}(?:${GAP}){0,60}-{4,5} ?END ${TITLE})?`,
  ].join(""),
  "g",
);

/** The last line of a key whose first one is not there, after the words before it. */
const KEY_TAIL = new RegExp(
  `(?<=((?:${BASE64}{16,}(?:${GAP}){0,60}){1,400}(?:${BASE64}{1,15}(?:${GAP}){1,60}){0,2}))-{4,5} ?END ${TITLE}`,
  "g",
);
const MAY_BE_KEY = /^[^"'(),;]{0,100}$/;

/** One expression for all; the longest first, so that a secret inside another does not leave the rest of it. */
function knownValues(secrets: readonly string[]): RegExp | null {
  const lines = secrets.flatMap((secret) => secret.split(/[\r\n]+/)).map((line) => line.trim());
  const values = [...new Set(lines.filter((line) => line.length >= SECRET_LENGTH_MIN))];
  if (values.length === 0) return null;
  const longestFirst = values.toSorted((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(spelled).join("|"), "g");
}

/** An expression for a value however somebody writes it: inside JSON of any depth, HTML, an address, a shell, code, as bytes. */
function spelled(value: string): string {
  return Array.from(value, (one) => (/\w/.test(one) ? one : spellingsOf(one))).join("");
}

function spellingsOf(character: string): string {
  const escapes = character
    .split("")
    .map((unit) => String.raw`\\{1,15}u` + inHex(unit.charCodeAt(0), 4))
    .join("");
  const code = character.codePointAt(0) ?? 0;
  const percent = percentEncoded(character, code);
  const bytes = percent.replaceAll(/%(..)/g, (_, byte: string) =>
    String.fromCharCode(Number.parseInt(byte, 16)),
  );
  const forms = [
    ...(FORMS[character] ?? []),
    ...(character === "\\" ? [] : [String.raw`\\{0,15}${literal(character)}`]),
    escapes,
    String.raw`\\{1,15}x${inHex(code, 2)}`,
    caseless(percent),
    `&#(?:0*${code}|[xX]0*${inHex(code, 1)});`,
    ...(bytes === character ? [] : [literal(bytes)]),
  ];
  return `(?:${forms.join("|")})`;
}

/** What only some characters have. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  "\\": [String.raw`\\{1,16}`],
  '"': ['""', "&quot;"],
  "'": [String.raw`'\\{1,4}''`, `'"'"'`, "''", "&apos;"],
  "&": ["&amp;"],
  "<": ["&lt;"],
  ">": ["&gt;"],
  "\t": [String.raw`\\{1,15}t`],
  " ": [String.raw`\+`],
};

function percentEncoded(character: string, code: number): string {
  if (code < 0x80) return `%${code.toString(16).padStart(2, "0")}`;
  return character.isWellFormed() ? encodeURIComponent(character) : character;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

function inHex(code: number, digits: number): string {
  return caseless(code.toString(16).padStart(digits, "0"));
}

function caseless(text: string): string {
  return text.replaceAll(/[a-f]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}
