import { PLAIN, type ProgramFormat, KNOWN_PROGRAMS } from "../../../core/agents.ts";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentSettings } from "../../../core/settings.ts";
import { accountOf } from "./accounts.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ralph-accounts-"));
});
afterEach(() => rmSync(home, { recursive: true }));

type Env = Readonly<Record<string, string>>;

function agent(format: AgentSettings["format"], more: Partial<AgentSettings> = {}): AgentSettings {
  return { ...PLAIN, name: format, format, command: null, ...more };
}

/** What is said of the account: with "none: " before it when there is none, null when that is not known. */
function told(format: ProgramFormat, env: Env = {}, more: Partial<AgentSettings> = {}): string | null {
  const account = accountOf(agent(format, more), { HOME: home, ...env });
  return account && (account.isThere ? account.says : `none: ${account.says}`);
}

function write(path: string, content: unknown): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

const onMac = process.platform === "darwin";
const CLAUDE_NONE = onMac ? null : "none: neither a login nor ANTHROPIC_API_KEY";
const CLAUDE_LOGIN = { claudeAiOauth: { accessToken: "sk-ant-oat", subscriptionType: "max" } };

describe("with nothing there", () => {
  test.each<[ProgramFormat, string | null]>([
    ["claude", CLAUDE_NONE],
    ["codex", "none: neither a login nor CODEX_API_KEY"],
    ["gemini", "none: neither a login nor GEMINI_API_KEY"],
    ["opencode", null],
    ["copilot", null],
  ])("%s", (format, says) => {
    expect(told(format)).toBe(says);
  });
});

describe("a key in the environment", () => {
  test.each<[ProgramFormat, string]>([
    ["claude", "ANTHROPIC_API_KEY"],
    ["claude", "ANTHROPIC_AUTH_TOKEN"],
    ["codex", "CODEX_API_KEY"],
    ["gemini", "GEMINI_API_KEY"],
  ])("%s is billed by use with %s", (format, name) => {
    expect(told(format, { [name]: "secret" })).toBe(`the key in ${name}, billed by use`);
  });

  test.each(["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"])("copilot is somebody by %s", (name) => {
    expect(told("copilot", { [name]: "secret" })).toBe(`the GitHub account of ${name}`);
  });

  test("is never said itself", () => {
    const names = ["ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY", "GH_TOKEN"];
    const env = Object.fromEntries(names.map((name) => [name, "very-secret"]));
    for (const format of KNOWN_PROGRAMS) expect(told(format, env) ?? "").not.toContain("very-secret");
  });

  test("counts before a login, as it does for the program itself", () => {
    write(".claude/.credentials.json", CLAUDE_LOGIN);
    write(".codex/auth.json", { tokens: { access_token: "t" } });
    expect(told("claude", { ANTHROPIC_API_KEY: "k" })).toContain("ANTHROPIC_API_KEY");
    expect(told("codex", { CODEX_API_KEY: "k" })).toContain("CODEX_API_KEY");
  });

  test("that is empty is none", () => {
    expect(told("claude", { ANTHROPIC_API_KEY: "" })).toBe(CLAUDE_NONE);
    expect(told("gemini", { GEMINI_API_KEY: "" })).toContain("none: ");
    expect(told("copilot", { COPILOT_PROVIDER_BASE_URL: "", GH_TOKEN: "" })).toBeNull();
  });

  test("that the agent does not get does not count", () => {
    const more = { envDeny: ["ANTHROPIC_API_KEY"] };
    expect(told("claude", { ANTHROPIC_API_KEY: "stray" }, more)).toBe(CLAUDE_NONE);
    write(".claude/.credentials.json", CLAUDE_LOGIN);
    expect(told("claude", { ANTHROPIC_API_KEY: "stray" }, more)).toBe("the Claude login (subscription: max)");
  });

  test("that only the agent gets counts, also in place of one that was taken away", () => {
    const more = { env: { ANTHROPIC_API_KEY: "own" }, envDeny: ["ANTHROPIC_API_KEY"] };
    expect(told("claude", {}, more)).toBe("the key in ANTHROPIC_API_KEY, billed by use");
  });
});

describe("claude", () => {
  test("uses the login that it keeps in HOME, or in a folder of its own", () => {
    write(".claude/.credentials.json", CLAUDE_LOGIN);
    expect(told("claude")).toBe("the Claude login (subscription: max)");
    write("elsewhere/.credentials.json", { claudeAiOauth: { accessToken: "t" } });
    expect(told("claude", { CLAUDE_CONFIG_DIR: join(home, "elsewhere") })).toBe("the Claude login");
    expect(told("claude", { CLAUDE_CONFIG_DIR: "" })).toBe("the Claude login (subscription: max)");
  });

  test("uses the subscription of a token, but not before a key", () => {
    const env = { CLAUDE_CODE_OAUTH_TOKEN: "t" };
    expect(told("claude", env)).toBe("the subscription of CLAUDE_CODE_OAUTH_TOKEN");
    expect(told("claude", { ...env, ANTHROPIC_API_KEY: "k" })).toContain("ANTHROPIC_API_KEY");
  });

  test("goes to a cloud when that is switched on, whatever keys there are", () => {
    const key = { ANTHROPIC_API_KEY: "k" };
    expect(told("claude", { ...key, CLAUDE_CODE_USE_BEDROCK: "1" })).toBe("Amazon Bedrock");
    expect(told("claude", { ...key, CLAUDE_CODE_USE_VERTEX: "true" })).toBe("Google Vertex AI");
    expect(told("claude", { ...key, CLAUDE_CODE_USE_BEDROCK: "0" })).toContain("ANTHROPIC_API_KEY");
  });

  test("finds keys in its own settings, too", () => {
    write(".claude/settings.json", { apiKeyHelper: "/bin/key" });
    expect(told("claude")).toBe("the key of its apiKeyHelper, billed by use");
    write(".claude/settings.json", { env: { ANTHROPIC_API_KEY: "k", OTHER: 3 } });
    expect(told("claude")).toBe("the key in ANTHROPIC_API_KEY, billed by use");
  });
});

describe("codex", () => {
  test("uses the login that it keeps in HOME, or in a folder of its own", () => {
    write(".codex/auth.json", { OPENAI_API_KEY: null, tokens: { access_token: "t" } });
    expect(told("codex")).toBe("the ChatGPT login");
    write("elsewhere/auth.json", { OPENAI_API_KEY: "sk", tokens: null });
    const file = join(home, "elsewhere/auth.json");
    expect(told("codex", { CODEX_HOME: join(home, "elsewhere") })).toBe(
      `the API key in ${file}, billed by use`,
    );
  });

  test("uses its provider, if that is another one, whatever login there is", () => {
    write(".codex/auth.json", { tokens: { access_token: "t" } });
    write(".codex/config.toml", 'model = "x"\nmodel_provider = "local"\n[model_providers.local]\n');
    expect(told("codex", { CODEX_API_KEY: "k" })).toBe('its provider "local"');
    write(".codex/config.toml", "model_provider='openai'\n");
    expect(told("codex")).toBe("the ChatGPT login");
    write(".codex/config.toml", '[profiles.other]\nmodel_provider = "local"\n');
    expect(told("codex")).toBe("the ChatGPT login");
  });

  test("may have its login in a keychain, which nobody is asked to open", () => {
    write(".codex/config.toml", 'cli_auth_credentials_store = "keyring"\n');
    expect(told("codex")).toBeNull();
  });
});

describe("gemini", () => {
  const login = (): void => {
    write(".gemini/oauth_creds.json", { refresh_token: "r" });
    write(".gemini/google_accounts.json", { active: "me@example.com", old: [] });
  };
  const choose = (selectedType: string): void =>
    write(".gemini/settings.json", { security: { auth: { selectedType } } });

  test("uses the login that it keeps in HOME", () => {
    write(".gemini/oauth_creds.json", { refresh_token: "r" });
    expect(told("gemini")).toBe("the Google login");
    login();
    expect(told("gemini")).toBe("the Google login me@example.com");
  });

  test("goes by what was chosen in it before it looks at the environment", () => {
    login();
    choose("oauth-personal");
    expect(told("gemini", { GEMINI_API_KEY: "k" })).toBe("the Google login me@example.com");
    choose("gemini-api-key");
    expect(told("gemini", { GEMINI_API_KEY: "k" })).toBe("the key in GEMINI_API_KEY, billed by use");
    expect(told("gemini")).toBeNull();
    choose("vertex-ai");
    expect(told("gemini", { GEMINI_API_KEY: "k" })).toBe("Google Vertex AI");
    choose("compute-default-credentials");
    expect(told("gemini")).toBeNull();
  });

  test("goes to a cloud, or by the login, when that is switched on", () => {
    const key = { GEMINI_API_KEY: "k" };
    expect(told("gemini", { ...key, GOOGLE_GENAI_USE_VERTEXAI: "true" })).toBe("Google Vertex AI");
    expect(told("gemini", { ...key, GOOGLE_GENAI_USE_VERTEXAI: "false" })).toContain("GEMINI_API_KEY");
    login();
    expect(told("gemini", { ...key, GOOGLE_GENAI_USE_GCA: "true" })).toContain("me@example.com");
  });

  test("may have its key in a file of variables, which is not read", () => {
    write(".gemini/.env", "GEMINI_API_KEY=k\n");
    expect(told("gemini")).toBeNull();
  });
});

describe("opencode", () => {
  test("uses its logins, from HOME or where data is kept", () => {
    write(".local/share/opencode/auth.json", { anthropic: { type: "oauth" }, openai: { type: "api" } });
    expect(told("opencode")).toBe("its login at anthropic, openai");
    expect(told("opencode", { XDG_DATA_HOME: "" })).toBe("its login at anthropic, openai");
    write("data/opencode/auth.json", { google: { type: "api" } });
    expect(told("opencode", { XDG_DATA_HOME: join(home, "data") })).toBe("its login at google");
  });
});

describe("copilot", () => {
  test("uses the provider of the environment before any account", () => {
    const env = { COPILOT_PROVIDER_BASE_URL: "http://localhost:1/v1", GH_TOKEN: "t" };
    expect(told("copilot", env)).toBe("the provider of COPILOT_PROVIDER_BASE_URL (http://localhost:1/v1)");
  });

  test.each(["lastLoggedInUser", "last_logged_in_user"])("uses its login, written as %s", (key) => {
    const config = JSON.stringify({ [key]: { host: "https://github.com", login: "octocat" } });
    write(".copilot/config.json", config);
    expect(told("copilot")).toBe("the GitHub login octocat");
    write("own/config.json", `// This file is managed automatically.\n// Really.\n${config}`);
    expect(told("copilot", { COPILOT_HOME: join(home, "own") })).toBe("the GitHub login octocat");
  });
});

const FILES = [
  ".claude/.credentials.json",
  ".claude/settings.json",
  ".codex/auth.json",
  ".codex/config.toml",
  ".gemini/oauth_creds.json",
  ".gemini/google_accounts.json",
  ".gemini/settings.json",
  ".local/share/opencode/auth.json",
  ".copilot/config.json",
];

describe("files that tell nothing are as good as none:", () => {
  test.each([
    ["cut off", '{"tokens": {"access_token": "t"'],
    ["empty", ""],
    ["another kind of JSON", '["claudeAiOauth"]'],
    ["other fields", { tokens: 3, claudeAiOauth: "x", active: 1, lastLoggedInUser: [], env: 1, security: 2 }],
  ])("%s", (_, content) => {
    for (const file of FILES) if (!file.includes("opencode")) write(file, content);
    if (typeof content !== "string") rmSync(join(home, ".gemini/oauth_creds.json"));
    expect(told("claude")).toBe(CLAUDE_NONE);
    expect(told("codex")).toContain("none: ");
    expect(told("gemini")).toContain("none: ");
    expect(told("copilot")).toBeNull();
    write(".local/share/opencode/auth.json", typeof content === "string" ? content : {});
    expect(told("opencode")).toBeNull();
  });

  test("not to be read", () => {
    for (const file of FILES) mkdirSync(join(home, file), { recursive: true });
    expect(KNOWN_PROGRAMS.map((format) => told(format))).toEqual([
      CLAUDE_NONE,
      "none: neither a login nor CODEX_API_KEY",
      "none: neither a login nor GEMINI_API_KEY",
      null,
      null,
    ]);
  });
});

describe("nothing can be known", () => {
  test("of a command of the operator's own, whatever it speaks", () => {
    const env = { HOME: home, ANTHROPIC_API_KEY: "k" };
    const own = { command: ["wrapper"] };
    expect(accountOf(agent("text", own), env)).toBeNull();
    expect(accountOf(agent("claude", own), env)).toBeNull();
    expect(accountOf(agent("acp", own), env)).toBeNull();
    expect(accountOf(agent("demo", own), env)).toBeNull();
  });
});
