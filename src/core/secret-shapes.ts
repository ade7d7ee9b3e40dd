/** A word begins here, or after an escape of JSON or of a terminal. */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]|\[[\d;]{0,8}m))`;

/**
 * The tokens that Ralph knows by their shape: a name for people, what comes first, and the rest, which begins with a
 * character of `MARKS`. No shape spans a line, and each is linear: what precedes a run of unbounded length is bounded,
 * and a run that can fail at its end can only begin where no other run of the same characters is under way.
 */
const TOKENS: readonly (readonly [name: string, first: string, rest: string])[] = [
  ["OpenAI, Anthropic, OpenRouter", `${START}sk`, String.raw`-[\w-]{20,}`],
  ["Stripe", `${START}[prs]k`, "_(?:live|test)_[A-Za-z0-9]{10,}"],
  ["Stripe webhooks", `${START}whsec`, String.raw`_[\w+/=-]{20,}`],
  ["GitHub", "gh[oprsu]", "_[A-Za-z0-9]{20,}"],
  ["GitHub, fine-grained", "github", String.raw`_pat_\w{20,}`],
  ["GitLab", `${START}gl(?:pat|rt|dt|cbt|ptt|ft|soat|imt|agent|oas)`, String.raw`-[\w-]{20,}`],
  ["npm", `${START}npm`, "_[A-Za-z0-9]{36,}"],
  ["PyPI", `${START}pypi`, String.raw`-(?=[\w-]{0,40}[A-Z])[\w-]{20,}`],
  ["Slack", "xox[abceprs]", "-[A-Za-z0-9-]{10,}"],
  ["Slack apps", "xapp", String.raw`-\d-[A-Za-z0-9-]{10,}`],
  ["AWS", "", "A(?:KIA|SIA)[0-9A-Z]{16}"],
  ["Google", "", String.raw`AIza[\w-]{35}`],
  ["Google OAuth", `${START}ya29`, String.raw`\.[\w-]{20,}`],
  ["Google clients", `${START}GOCSPX`, String.raw`-[\w-]{20,}`],
  ["Hugging Face", `${START}hf`, "_[A-Za-z0-9]{20,}"],
  ["Groq", `${START}gsk`, "_[A-Za-z0-9]{40,}"],
  ["xAI", `${START}xai`, "-[A-Za-z0-9]{40,}"],
  ["SendGrid", `${START}SG`, String.raw`\.[\w-]{16,}\.[\w-]{16,}`],
  ["DigitalOcean", "do[opr]", "_v1_[a-f0-9]{32,}"],
  ["age", "AGE", "-SECRET-KEY-1[0-9A-Za-z]{20,}"],
  ["Linear", `${START}lin`, "_(?:api|oauth)_[A-Za-z0-9]{20,}"],
  ["Supabase", `${START}(?:sbp|sb)`, String.raw`_(?:secret_)?[a-zA-Z0-9]{20,}`],
  ["Atlassian", "", String.raw`ATATT3[\w=-]{20,}`],
  ["Telegram", String.raw`(?<!\d)\d{8,10}`, String.raw`:AA[\w-]{30,}`],
  ["HashiCorp Vault", `${START}hv[bsr]`, String.raw`\.[\w-]{24,}`],
  ["JSON Web Tokens", `${START}${String.raw`eyJ[\w-]{8,500}`}`, String.raw`\.[\w-]{8,}\.[\w-]{8,}`],
];

/** Where only the value after something is secret. */
const VALUES: readonly (readonly [name: string, first: string, mark: string, value: string])[] = [
  ["Bearer", "[Bb]", String.raw`earer[ \t]{1,4}`, String.raw`[\w.~+/-]{16,}=*`],
  [
    "Basic",
    String.raw`[Aa]uthorization["'\\]{0,9}`,
    String.raw`:[ "'\\]{0,9}[Bb]asic `,
    String.raw`[\w+/=-]{8,}`,
  ],
  ["Slack webhooks", "hooks", String.raw`\.slack\.com\/[a-z]{1,20}\/`, String.raw`[\w/-]{20,}`],
  ["Discord webhooks", "discord(?:app)?", String.raw`\.com\/api\/webhooks\/`, String.raw`[\w/-]{20,}`],
  ["passwords in addresses", "", String.raw`:\/\/[^\s:@/"'<>]{0,100}:`, String.raw`[^\s@/"'<>]{1,500}(?=@)`],
  ["names in addresses", "https?", String.raw`:\/\/`, String.raw`[^\s:@/"'<>]{20,200}(?=@)`],
  ["passwords in queries", "", "[?&]password=", String.raw`[^\s&#"'<>\u001b]{1,500}`],
];

export const SHAPE_NAMES: readonly string[] = [...TOKENS, ...VALUES].map(([name]) => name);

const ANY_TOKEN = new RegExp(
  [
    ...TOKENS.map(([, first, rest]) => first + rest),
    ...VALUES.map(([, first, mark, value]) => `(${first}${mark})${value}`),
  ].join("|"),
  "g",
);

/** The same, searched by what is rare in a text: many times faster where there is none. */
const MARKS = "[-_.:?&A]";
const OF_MARKS = new RegExp(MARKS);
const ANY_MARK = new RegExp(
  `(?=${MARKS})(?:${[...TOKENS, ...VALUES].map(([, first, ...rest]) => `${first && `(?<=${first})`}${rest.join("")}`).join("|")})`,
);

export const REDACTED = "[redacted]";

/** Replaces every token that has one of the shapes. */
export function redactTokens(text: string): string {
  if (!(OF_MARKS.test(text) && ANY_MARK.test(text)) && !/earer[ \t]/.test(text)) return text;
  return text.replace(ANY_TOKEN, (_match: string, ...found: readonly unknown[]) => {
    // Of the groups at most one took part.
    const kept = found.slice(0, -2).find((group) => typeof group === "string");
    return `${typeof kept === "string" ? kept : ""}${REDACTED}`;
  });
}

/** Names of variables that hold a secret; git's own settings in the environment are called GIT_CONFIG_KEY_0. */
export const SECRET_NAME =
  /(?:^|(?<!^GIT_CONFIG)_)(?:KEY|TOKEN|SECRET|PASS|PAT|CREDENTIALS?|DSN)(?:_(?:LIVE|TEST|PROD(?:UCTION)?|DEV|STAGING|BASE|OLD|NEW|\d{1,2}))?$|_PWD$|PASSW(?:OR)?D$/i;

/** The value of what may be named like a secret, in whatever language: `KEY=value`, `"api_key": "value"`. */
const NAMED = new RegExp(
  [
    "(?<=((?:key|token|secret|passw(?:or)?d|passphrase|pass|pwd|pat|credentials?|dsn)(?:_[a-z0-9]{1,10})?)",
    String.raw`(["'\\]{0,20}[ \t]{0,4}))((?::=|=>|[:=])[ \t]{0,4})`,
    String.raw`(?:(\\{0,9}["'])([^"'\\\r\n]{8,500})|((?![=~>])[^\s"'\\<>{}()[\],;&$*\x60]{8,500}))`,
  ].join(""),
  "gi",
);

/** Replaces the value of whatever is named like a secret, unless it looks like code, a type or a placeholder. */
export function redactNamed(text: string): string {
  return text.replace(NAMED, (match: string, ...found: readonly unknown[]) => {
    const [end, between, sign, quote = "", quoted, bare, at] = found as NamedParts;
    const from = at - between.length - end.length;
    const name = (/[\w-]*$/.exec(text.slice(Math.max(0, from - 60), from))?.[0] ?? "") + end;
    const isCode = quoted === undefined && /[([]/.test(text.charAt(at + match.length));
    if (isCode || !isSecret(name, quoted ?? bare ?? "", between + sign, quoted !== undefined)) return match;
    return `${sign}${quote}${REDACTED}`;
  });
}

type NamedParts = readonly [
  string,
  string,
  string,
  string | undefined,
  string | undefined,
  string | undefined,
  number,
];

function isSecret(name: string, value: string, sign: string, isQuoted: boolean): boolean {
  if (NO_SECRET.test(value) || isPath(value)) return false;
  const isVariable = /^_?[A-Z][A-Z0-9_]*$/.test(name) && SECRET_NAME.test(name);
  // As in a shell or an .env file: nothing else looks so.
  if (isVariable && sign === "=") return true;
  if (!isVariable && (!NAMES_IN_CODE.test(name.replaceAll(/[_-]/g, "")) || /\s/.test(value))) return false;
  if (!isQuoted && LIKE_CODE.test(value)) return false;
  if (/pass|pwd/i.test(name)) return /\d/.test(value) || !/^[A-Za-z]+$|passw/i.test(value);
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Names in code and configuration, without their `_` and `-`. */
const NAMES_IN_CODE =
  /(?:(?:api|secret|access|private|account|auth|encryption|signing|master)key|token|secret|passwo?r?d|passphrase)$/i;

/** A part of something, or a type with a number in its name. */
const LIKE_CODE = /^(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Z][a-z]+\d{1,2}(?:[A-Z][a-z]+)+)$/;

/** Another variable, a placeholder; and what is redacted already. */
const NO_SECRET = /^(?:[$%<{[(*.~\u2026]|process\.env|os\.environ|(.)\1*$|your[_ -])/i;

/** A key's name may hold the file with the key. Base64 begins with a slash as well, and then looks like no path. */
export function isPath(value: string): boolean {
  return value.startsWith("/") && !LIKE_BASE64.test(value);
}

const LIKE_BASE64 = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d+/]{20,}={0,2}$/;
