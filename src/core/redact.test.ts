import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRedactor, openKeyBlock, passwordsIn, secretsIn } from "./redact.ts";
import { SHAPE_NAMES } from "./secret-shapes.ts";

const redact = createRedactor(["hunter2hunter2", "short", "with spaces & (signs) $1"]);

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const keyBody = `${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj".repeat(1)}\n${"A1b2C3d4".repeat(8)}\nQ==`;
const key = `-----BEGIN PRIVATE KEY-----\n${keyBody}\n-----END PRIVATE KEY-----`;

describe("secrets go", () => {
  test.each<[string, string, string]>([
    ["a known one", "x hunter2hunter2 y", "x [redacted] y"],
    ["a known one, twice", "hunter2hunter2hunter2hunter2", "[redacted][redacted]"],
    ["a known one with any characters", "a with spaces & (signs) $1 b", "a [redacted] b"],
    ["an Anthropic key", "sk-ant-api03-AbCdEfGhIjKlMnOpQrSt-_x", "[redacted]"],
    ["an OpenAI key", 'key="sk-proj-AbCdEfGhIjKlMnOpQrStUv"', 'key="[redacted]"'],
    ["GitHub tokens", `ghp_${"a1B2".repeat(9)} gho_${"a1B2".repeat(9)}`, "[redacted] [redacted]"],
    ["a fine-grained GitHub token", `github_pat_${"a1B2_".repeat(9)}`, "[redacted]"],
    ["a Slack token", "xoxb-1234567890-abcdef", "[redacted]"],
    ["an AWS key id", "AKIAIOSFODNN7EXAMPLE.", "[redacted]."],
    ["a Google key", `AIza${"x".repeat(35)}`, "[redacted]"],
    ["a bearer token", "Authorization: Bearer abcdefghij1234567890==", "Authorization: Bearer [redacted]"],
    ["a JWT", `token=${jwt};`, "token=[redacted];"],
    ["a private key", `a\n${key}\nb`, "a\n[redacted]\nb"],
    ["a private key in JSON", JSON.stringify({ a: key, b: 1 }), '{"a":"[redacted]","b":1}'],
    ["an indented private key", key.replaceAll("\n", "\n    "), "[redacted]"],
    ["a private key without an end", key.slice(0, 120), "[redacted]"],
    [
      "an encrypted private key",
      key.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n"),
      "[redacted]",
    ],
    ["a password in an address", "at postgres://ralph:hunter2@db/x", "at postgres://ralph:[redacted]@db/x"],
    ["a password without a name", "redis://:hunter2@cache:6379", "redis://:[redacted]@cache:6379"],
    [
      "a password that is asked for",
      "postgres://db/x?password=hunter2&a=1",
      "postgres://db/x?password=[redacted]&a=1",
    ],
    [
      "a token in place of a name",
      "https://Ab1cD2eF3gH4iJ5kL6mN@git.example/x.git",
      "https://[redacted]@git.example/x.git",
    ],
    ["two private keys", `${key}\n${key}`, "[redacted]\n[redacted]"],
  ])("%s", (_, text, clean) => {
    expect(redact(text)).toBe(clean);
    expect(redact(clean)).toBe(clean);
  });
});

describe("other text stays", () => {
  test.each([
    "a short word",
    "the task-with-a-very-long-name-indeed is done",
    "sk-short",
    "git grep ghp_",
    "the bearer of bad news",
    "eyJhbGciOiJIUzI1NiJ9 is only the head of a token",
    "AKIA is a prefix",
    "http://localhost:3000/users/a@example.org",
    '"http://localhost:3000","a@example.org"',
    "git@github.com:owner/name.git, ssh://git@host:22/name",
    "https://somebody@git.example/name.git",
    "npm_config_registry=https://registry.example",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "\0\xff garbage \ufffd",
  ])("%s", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("a mention of a private key costs only its first line", () => {
    const rest = '"; // a pattern\n<promise>COMPLETE</promise>\nthe end is -----END PRIVATE KEY-----';
    expect(redact(`const a = "-----BEGIN PRIVATE KEY-----${rest}`)).toBe(`const a = "[redacted]${rest}`);
  });
});

test("each line of a known secret is one", () => {
  const clean = createRedactor(["first line of it\nsecond line of it\n\nshort"])(
    "a second line of it, short",
  );
  expect(clean).toBe("a [redacted], short");
});

test("a secret inside another leaves nothing of it", () => {
  expect(createRedactor(["12345678", "1234567890abc"])("1234567890abc 12345678")).toBe(
    "[redacted] [redacted]",
  );
});

test("a private key is open as long as it looks like one", () => {
  expect(openKeyBlock(`text\n${key.slice(0, 60)}`)).toBe(5);
  expect(openKeyBlock(`text\n${key.slice(0, -30)}`)).toBe(5);
  expect(openKeyBlock(key)).toBe(-1);
  expect(openKeyBlock("a -----BEGIN PRIVATE KEY----- in prose, as here")).toBe(-1);
  expect(openKeyBlock("nothing")).toBe(-1);
});

test("secrets are known by the names of their variables", () => {
  const env = {
    ANTHROPIC_API_KEY: "value-one",
    gh_token: "value-two",
    MY_SECRET: "value-three",
    DB_PASSWORD: "value-four",
    TOKEN: "value-five",
    SSH_KEY: "/home/me/.ssh/id",
    AWS_SECRET_ACCESS_KEY: "/Ab1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3",
    PGPASSWORD: "value-of-postgres",
    MYSQL_PWD: "value-of-mysql",
    REGISTRY_PASS: "value-of-registry",
    PWD: "not-a-secret",
    COMPASS: "not-a-secret",
    TINY_KEY: "1234567",
    NO_KEY: undefined,
    KEYBOARD: "value-six",
    PATH: "value-seven",
  };
  expect(secretsIn(env)).toEqual([
    "value-one",
    "value-two",
    "value-three",
    "value-four",
    "value-five",
    "/Ab1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3",
    "value-of-postgres",
    "value-of-mysql",
    "value-of-registry",
  ]);
});

test("passwords in addresses are known by where they stand, however they are written", () => {
  expect(passwordsIn("postgres://ralph:correct%20horse@db:5432/x")).toEqual([
    "correct%20horse",
    "correct horse",
  ]);
  expect(passwordsIn("postgres://ralph:a@b@db/x")).toEqual(["a@b"]);
  expect(passwordsIn("postgres://db/x?user=u&password=p%25q")).toEqual(["p%25q", "p%q"]);
  expect(passwordsIn("postgres://ralph:50%off@db/x")).toEqual(["50%off"]);
  expect(passwordsIn("postgres://ralph@db:5432/x")).toEqual([]);
  expect(passwordsIn("user:password@host")).toEqual([]);
  expect(
    secretsIn({ RALPH_QUEUE_URL: "postgres://u:battery-staple@db/x", HTTP_PROXY: "http://proxy:3128" }),
  ).toEqual(["battery-staple"]);
});

test.each([
  "sk-",
  "://a:",
  "://:@",
  "?password=",
  "eyJ",
  "eyJaaaaaaaa.",
  "Bearer ",
  "-----BEGIN PRIVATE KEY-----\n",
  "xoxb-",
  "\\n",
  "hunter2",
  "a_key=",
  "-----END PRIVATE KEY-----",
  "password: ",
  "path/to-key.pem:1:",
  "sk-sk_gh_.",
  "MIIEvQIBADANBgkqhkiG9w0BAQEF\n",
  "QUJDREVGR0hJSktMTU5PUFFSU1RVVldY ",
])("redacting a lot of %j takes linear time", (part) => {
  const text = `-----BEGIN PRIVATE KEY-----${part.repeat(2_000_000 / part.length)}`;
  const started = process.threadCpuUsage();
  redact(text);
  expect(process.threadCpuUsage(started).user).toBeLessThan(1_000_000);
});

const x = "a1B2".repeat(9);
/** One of each shape, as it is found in the wild: what is kept of it, and what goes. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [kept: string, secret: string])[]>> = {
  "OpenAI, Anthropic, OpenRouter": [
    ["", `sk-ant-api03-${x}`],
    ["", `sk-proj-${x}`],
  ],
  Stripe: [
    ["", `sk_live_${x}`],
    ["", `rk_live_${x}`],
    ["", `sk_test_${x}`],
  ],
  "Stripe webhooks": [["", `whsec_${x}`]],
  GitHub: [
    ["", `ghp_${x}`],
    ["", `gho_${x}`],
  ],
  "GitHub, fine-grained": [["", `github_pat_${x}`]],
  GitLab: [
    ["", `glpat-${x}`],
    ["", `glrt-${x}`],
  ],
  npm: [["", `npm_${x}`]],
  PyPI: [["", `pypi-AgEIcHlwaS5vcmc${x}`]],
  Slack: [["", `xoxb-123456789012-${x}`]],
  "Slack apps": [["", `xapp-1-A0${x}`]],
  AWS: [
    ["", "AKIAIOSFODNN7EXAMPLE"],
    ["", "ASIAIOSFODNN7EXAMPLE"],
  ],
  Google: [["", `AIza${"x".repeat(35)}`]],
  "Google OAuth": [["", `ya29.${x}`]],
  "Google clients": [["", `GOCSPX-${x}`]],
  "Hugging Face": [["", `hf_${x}`]],
  Groq: [["", `gsk_${x}${x}`]],
  xAI: [["", `xai-${x}${x}`]],
  SendGrid: [["", `SG.${x}.${x}`]],
  DigitalOcean: [["", `dop_v1_${"0a1b".repeat(16)}`]],
  age: [["", `AGE-SECRET-KEY-1${"QPZRY9X8".repeat(7)}`]],
  Linear: [["", `lin_api_${x}`]],
  Supabase: [["", `sbp_${"0a1b".repeat(10)}`]],
  Atlassian: [["", `ATATT3${x}=0A1B2C3D`]],
  Telegram: [["", `1234567890:AA${x}`]],
  "HashiCorp Vault": [["", `hvs.${x}`]],
  "JSON Web Tokens": [["", jwt]],
  Bearer: [["Bearer ", x]],
  Basic: [
    ["Authorization: Basic ", "dXNlcjpwYXNz"],
    ['"authorization":"Basic ', "dXNlcjpwYXNzd29yZA=="],
  ],
  "Slack webhooks": [["https://hooks.slack.com/services/", `T000/B000/${x}`]],
  "Discord webhooks": [["https://discord.com/api/webhooks/", `1234567890/${x}`]],
  "passwords in addresses": [["postgres://ralph:", "hunter2"]],
  "names in addresses": [["https://", "Ab1cD2eF3gH4iJ5kL6mN"]],
  "passwords in queries": [["postgres://db/x?password=", "hunter2"]],
};

test("every shape has an example, and SECURITY.md names it", () => {
  expect(Object.keys(EXAMPLES)).toEqual(SHAPE_NAMES);
  const page = readFileSync(join(import.meta.dirname, "../../SECURITY.md"), "utf8").replaceAll(/\s+/g, " ");
  expect(SHAPE_NAMES.filter((name) => !page.includes(name))).toEqual([]);
});

const found = Object.entries(EXAMPLES).flatMap(([name, pairs]) =>
  pairs.map((pair) => [name, ...pair] as const),
);

test.each(found)("%s: %s%s goes wherever it stands", (name, kept, secret) => {
  const isAddress = name.endsWith("addresses");
  const rest = isAddress ? "@db/x" : "";
  const clean = `${kept}[redacted]${rest}`;
  for (const [before, after] of [
    ["", ""],
    ["a ", " b"],
    ['{"text":"line\\n', '"}'],
    ["\u001b[32m", "\u001b[0m"],
    ["+", ""],
  ]) {
    expect(redact(before + kept + secret + rest + after)).toBe(before + clean + after);
  }
});

describe("a private key goes however it is shown", () => {
  const body = Array.from(
    { length: 25 },
    (_, at) =>
      `${at === 0 ? "MIIEvQIBADANBgkqhkiG9w0BAQEF" : "k7Qm2xVb9/ZtR4wLs+0aNcYdEuGh"}${"AaSC".repeat(9)}`,
  );
  const lines = ["-----BEGIN PRIVATE KEY-----", ...body, "s3cretEnd==", "-----END PRIVATE KEY-----"];
  const each = (show: (line: string, at: number) => string): string => lines.map(show).join("\n");
  const json = (text: string, depth: number): string =>
    depth === 0 ? text : json(JSON.stringify({ text }), depth - 1);
  const pgp = each((line) => line)
    .replaceAll("PRIVATE KEY-----", "PGP PRIVATE KEY BLOCK-----")
    .replace("-----\n", "-----\nVersion: GnuPG v2\n\n")
    .replace("s3cretEnd==", "s3cret==\n=s3cr");
  test.each<[string, string]>([
    ["plain", each((line) => line)],
    ["CRLF", lines.join("\r\n")],
    ["numbered with an arrow", each((line, at) => `${String(at + 1).padStart(6)}→${line}`)],
    ["cat -n", each((line, at) => `${String(at + 1).padStart(6)}\t${line}`)],
    ["grep -n", each((line, at) => `${at + 1}:${line}`)],
    ["grep -rn", each((line, at) => `deploy/id_key.pem:${at + 1}:${line}`)],
    ["grep -A", each((line, at) => `deploy/id_key.pem-${at + 1}-${line}`)],
    ["added lines of a diff", each((line) => `+${line}`)],
    ["removed lines of a diff", each((line) => `-${line}`)],
    ["quotes", each((line) => `> ${line}`)],
    ["comments", each((line) => `# ${line}`)],
    ["comments with slashes", each((line) => `// ${line}`)],
    ["indented", each((line) => `      ${line}`)],
    ["strings in code", each((line) => `  "${line}\\n" +`)],
    ["one line", lines.join("")],
    ["one line with spaces", lines.join(" ")],
    ...[1, 2, 3, 4].map((depth): [string, string] => [
      `JSON, ${depth} deep`,
      json(
        each((line) => line),
        depth,
      ),
    ]),
    [
      "numbered, in JSON",
      json(
        each((line, at) => `${String(at + 1).padStart(6)}→${line}`),
        2,
      ),
    ],
    [
      "numbered, with the arrow as an escape",
      json(
        each((line, at) => `${at + 1}→${line}`),
        1,
      ).replaceAll("→", "\\u2192"),
    ],
    ["without its first line", lines.slice(1).join("\n")],
    ["without its first and last line", body.join("\n")],
    ["the end of it", lines.slice(9).join("\n")],
    [
      "the end of it, numbered, in JSON",
      json(
        lines
          .slice(9)
          .map((line, at) => `${at + 10}→${line}`)
          .join("\n"),
        2,
      ),
    ],
    ["PGP", pgp],
    ["PGP, quoted", pgp.replaceAll(/^/gm, "> ")],
    [
      "SSH2",
      each((line) => line).replaceAll(
        /-----(BEGIN|END) PRIVATE KEY-----/g,
        "---- $1 SSH2 ENCRYPTED PRIVATE KEY ----",
      ),
    ],
  ])("%s", (_, text) => {
    for (const shown of [text, Buffer.from(text).toString("latin1")]) {
      const clean = redact(`before ${shown}\nafter`);
      expect(clean).not.toMatch(/AaSC|s3cr/);
      expect(clean).toMatch(/^before .*\[redacted\].*\nafter$/s);
    }
  });
});

test.each([1, 2, 3])("what stands beside a key that is cut off stays, %i deep in JSON", (depth) => {
  const wrap = (inner: string, left: number): string =>
    left === 0
      ? inner
      : wrap(
          JSON.stringify({ sessionIdentifierThatIsLong: "x", text: inner, anotherFieldThatIsLong: "y" }),
          left - 1,
        );
  const unwrap = (outer: string, left: number): string =>
    left === 0 ? outer : unwrap((JSON.parse(outer) as { text: string }).text, left - 1);
  for (const text of [
    `a ${key.slice(0, 90)}`,
    `b ${keyBody.slice(0, 90)}`,
    `${keyBody}\n-----END PRIVATE KEY-----`,
  ]) {
    const clean = redact(wrap(text, depth));
    expect(unwrap(clean, depth)).toMatch(/^(?:[ab] )?\[redacted\]$/);
    expect(clean.match(/anotherFieldThatIsLong/g)).toHaveLength(depth);
  }
});

test("a key goes as a list of its lines", () => {
  const lines = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ",
    "A1b2C3d4".repeat(8),
    "A1b2C3d4".repeat(8),
  ];
  expect(redact(JSON.stringify(["-----BEGIN PRIVATE KEY-----", ...lines]))).toBe('["[redacted]"]');
});

describe("values go by their names", () => {
  test.each<[string, string]>([
    ["MY_API_KEY=hunter2value", "MY_API_KEY=[redacted]"],
    ["export STRIPE_KEY_LIVE='only letters here'", "export STRIPE_KEY_LIVE='[redacted]'"],
    ['MY_SECRET="abcdefgh" next', 'MY_SECRET="[redacted]" next'],
    ["    12\tDB_PASSWORD=correcthorse", "    12\tDB_PASSWORD=[redacted]"],
    ["+GOOGLE_CREDENTIALS=abcdefghij", "+GOOGLE_CREDENTIALS=[redacted]"],
    ["SENTRY_DSN=https//whatever.example/1", "SENTRY_DSN=[redacted]"],
    ["SLACK_TOKEN: abcd1234efgh", "SLACK_TOKEN: [redacted]"],
    ['{"api_key": "abcd1234"}', '{"api_key": "[redacted]"}'],
    [String.raw`{"text":"{\"api_key\":\"abcd1234\"}"}`, String.raw`{"text":"{\"api_key\":\"[redacted]\"}"}`],
    [String.raw`"text":"A_KEY=abcd1234\nB=c"`, String.raw`"text":"A_KEY=[redacted]\nB=c"`],
    ["password: correct-horse-battery", "password: [redacted]"],
    ["db_password = 'hunter2hunter3'", "db_password = '[redacted]'"],
    ["clientSecret: 'abcdef123456',", "clientSecret: '[redacted]',"],
    ["x-api-key: abcdef123456", "x-api-key: [redacted]"],
    ["//registry.example/:_authToken=abcdef12-3456", "//registry.example/:_authToken=[redacted]"],
    ["AccountName=a;AccountKey=Ab1+/cdEFGH==;End=x", "AccountName=a;AccountKey=[redacted];End=x"],
    ["https://x.example/?access_token=abcdef123456&b=1", "https://x.example/?access_token=[redacted]&b=1"],
  ])("%s", (text, clean) => {
    expect(redact(text)).toBe(clean);
    expect(redact(clean)).toBe(clean);
  });
});

test.each(["quo\"te's & <signs>", String.raw`back\slash$and"quote`, "tab\tand space's", "a/b+c=é<ü>~x"])(
  "the known value %j goes however it is written",
  (secret) => {
    const clean = createRedactor([secret]);
    const json = JSON.stringify(secret).slice(1, -1);
    const jsonInJson = JSON.stringify(json).slice(1, -1);
    const ascii = json.replaceAll(
      /[^ -~]|[<>&']/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    const html = secret
      .replaceAll("&", "&amp;")
      .replaceAll('"', "&quot;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll("'", "&#39;");
    const shell = secret.replaceAll("'", String.raw`'\''`);
    const doubled = secret.replaceAll(/["\\$`]/g, String.raw`\$&`);
    const python = secret
      .replaceAll("\\", "\\\\")
      .replaceAll("'", String.raw`\'`)
      .replaceAll("\t", "\\t");
    const bytes = Buffer.from(secret).toString("latin1");
    const address = encodeURIComponent(secret);
    for (const form of [
      secret,
      json,
      jsonInJson,
      JSON.stringify(jsonInJson).slice(1, -1),
      ascii,
      ascii.replaceAll(/u00(..)/g, (_, hex: string) => `u00${hex.toUpperCase()}`),
      json.replaceAll("/", "\\/"),
      html,
      shell,
      doubled,
      python,
      bytes,
      address,
    ])
      expect(clean(`<${form}>`)).toBe("<[redacted]>");
  },
);

test("what is honest stays", () => {
  for (const text of HONEST) expect(redact(text)).toBe(text);
});
const base64 = Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 7919) % 251)).toString("base64");
const HONEST = [
  "4b825dc642cb6eb9a060e54bf8d69288fbee4904 refs/heads/main",
  '"integrity": "sha512-9Wf2cHTIMRpa5tFO5RbMrjTz7gD6sQ0AYAX6hNOk3tyzUBcX4LQ2nYVXvGtCxRjH6ZYbfqZ9jN8ihxkEnQHTaw==",',
  `![](data:image/png;base64,${base64})`,
  base64.replaceAll(/.{76}/g, "$&\n"),
  `-----BEGIN CERTIFICATE-----\n${"MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n".repeat(9)}-----END CERTIFICATE-----`,
  "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7pQm2xVb9ZtR4wLs0aNcYdEuGh me@host",
  "550e8400-e29b-41d4-a716-446655440000",
  '{"max_tokens": 100, "token_count": 123456789, "input_tokens":1000, "stop_token": null}',
  "interface Login { user: string; password: string; token?: string; secret: Uint8Array }",
  "const apiKey = process.env.OPENAI_API_KEY ?? readSecret('openai');",
  "password: z.string().min(8).max(72), confirmPassword: passwordSchema",
  "apiKey: config.keys.openai2, token: getToken2(user), secret = tokens2[0]",
  "OPENAI_API_KEY=$OPENAI_API_KEY API_TOKEN=${TOKEN} X_KEY=$(cat key) A_KEY=<your key> B_KEY=**********",
  "ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}",
  "SSH_KEY=/home/me/.ssh/id_ed25519",
  '<input type="password" name="password" autocomplete="current-password">',
  '{"password": "Enter your password", "token": "keyword.control", "secretLabel": "The secret 12345"}',
  'sort_key: "created_at_2024", cache-key: linux-node-24-abcdef, key = "value-123-456"',
  "the path: src/app/page.tsx, pattern: /[a-z0-9]{8,}/, compass: north-by-northwest2",
  "test('the password: is hidden', () => expect(token).toBe(undefined));",
  "pypi-publish-with-a-very-long-name, global-task-with-a-name-that-is-long, shelf_aaaaaaaaaaaaaaaaaaaaaaaa",
  "if (event.key === 'Enter' || token == other.token2) next();",
];
