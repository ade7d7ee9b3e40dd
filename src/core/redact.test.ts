import { describe, expect, test } from "vitest";
import { createRedactor, inJson, openKeyBlock, passwordsIn, secretsIn } from "./redact.ts";

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
    ["a GitLab token", "glpat-AbCdEfGhIjKlMnOpQrSt", "[redacted]"],
    ["an npm token", `npm_${"a1B2".repeat(9)}`, "[redacted]"],
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
])("redacting a lot of %j takes linear time", (part) => {
  const text = `-----BEGIN PRIVATE KEY-----${part.repeat(2_000_000 / part.length)}`;
  const before = process.cpuUsage();
  redact(text);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});

test.each([
  ['quo"te', String.raw`quo\"te`],
  [String.raw`back\slash`, String.raw`back\\slash`],
  ["tab\tand\nline", String.raw`tab\tand\nline`],
  ["a/b", String.raw`a\/b`],
  ["a<b&c>", String.raw`a\u003cb\u0026c\u003e`],
  ["schlüssel", String.raw`schl\u00fcssel`],
])("%j looks otherwise in JSON", (secret, form) => {
  expect(inJson([secret])).toContain(form);
});

test("the ways of writing JSON are found together, and in capitals", () => {
  const forms = inJson(["p/s<é>"]);
  expect(forms).toEqual(
    expect.arrayContaining([String.raw`p\/s<\u00e9>`, String.raw`p\/s\u003C\u00E9\u003E`]),
  );
});

test("what looks the same in JSON is not there twice", () => {
  expect(inJson(["plain-secret"])).toEqual([]);
});
