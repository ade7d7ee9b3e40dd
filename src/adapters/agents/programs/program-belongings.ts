import { type Belongings, NO_BELONGINGS, isProgramFormat, type ProgramFormat } from "../../../core/agents.ts";
import { join } from "node:path";
import { type Fields, isFields, parsedJson, textOf } from "../../../core/streams/json-fields.ts";
import { readSmallFile } from "../../process/atomic-file.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * What a known program needs of its operator's: logins, settings and instructions. It writes to its folder, so there
 * it has one of its own. Logins are copied and not shown, since a program that renews one fails if it cannot keep it.
 */
export function programBelongings(program: ProgramFormat, env: Env): Belongings {
  return BELONGINGS[program](env);
}

/** Of a command that speaks the protocol: those of the program that it is, or stands for. */
export function belongingsOfCommand(command: readonly string[], env: Env): Belongings {
  const program = programIn(command);
  return program === null ? NO_BELONGINGS : programBelongings(program, env);
}

/** `codex` of `/opt/bin/codex-acp`; null when none is named. */
export function programIn([command = ""]: readonly string[]): ProgramFormat | null {
  const words = (command.split("/").at(-1) ?? "").split("-");
  return words.find((word): word is ProgramFormat => isProgramFormat(word)) ?? null;
}

const BELONGINGS: Readonly<Record<ProgramFormat, (env: Env) => Belongings>> = {
  claude(env) {
    const folder = claudeFolder(env);
    const own = { path: folder, shows: CLAUDE_SHOWS, copies: [".credentials.json"] };
    // Without the variable one of its files lies beside the folder.
    const isMoved = textOf(env["CLAUDE_CONFIG_DIR"]) !== null;
    const state = { path: isMoved ? folder : home(env, ""), shows: [], copies: [".claude.json"] };
    const cloud = [
      isSet(env, "CLAUDE_CODE_USE_BEDROCK") && home(env, ".aws"),
      isSet(env, "CLAUDE_CODE_USE_VERTEX") && home(env, ".config/gcloud"),
    ].filter((path) => path !== false);
    return {
      folders: isMoved ? [{ ...own, copies: [...own.copies, ...state.copies] }] : [own, state],
      shows: [...cloud, ...googleKey(env)],
      variables:
        cloud.length === 0
          ? /^(?:ANTHROPIC|CLAUDE)_/
          : /^(?:ANTHROPIC|CLAUDE|AWS|GOOGLE|GCLOUD|VERTEX|CLOUD_ML)_/,
    };
  },
  codex(env) {
    const path = textOf(env["CODEX_HOME"]) ?? home(env, ".codex");
    const config = readSmallFile(join(path, "config.toml")) ?? "";
    // Other providers say there which variable has the key.
    const keys = [...config.matchAll(/^\s*env_key\s*=\s*["'](\w+)["']/gm)].map(([, name]) => name ?? "");
    return {
      folders: [
        {
          path,
          shows: ["config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "rules"],
          copies: ["auth.json"],
        },
      ],
      shows: [],
      variables: new RegExp(`^(?:(?:CODEX|OPENAI|AZURE_OPENAI)_.*${keys.map((key) => `|${key}`).join("")})$`),
    };
  },
  gemini: (env) => ({
    folders: [
      {
        path: home(env, ".gemini"),
        shows: ["GEMINI.md", "commands", "extensions", "policies"],
        copies: [
          "settings.json",
          "oauth_creds.json",
          "google_accounts.json",
          "gemini-credentials.json",
          "mcp-oauth-tokens.json",
          "installation_id",
          ".env",
        ],
      },
    ],
    shows: [
      ...(isSet(env, "GOOGLE_GENAI_USE_VERTEXAI") ? [home(env, ".config/gcloud")] : []),
      ...googleKey(env),
    ],
    variables: /^(?:GEMINI|GOOGLE)_/,
  }),
  opencode: (env) => ({
    folders: [
      {
        path: join(textOf(env["XDG_DATA_HOME"]) ?? home(env, ".local/share"), "opencode"),
        shows: [],
        copies: ["auth.json", "mcp-auth.json"],
      },
      {
        path: join(textOf(env["XDG_CONFIG_HOME"]) ?? home(env, ".config"), "opencode"),
        shows: OPENCODE_SHOWS,
        copies: [],
      },
    ],
    shows: [],
    // It works with any provider, each of which has its own.
    variables: /^(?:OPENCODE_.*|\w+_API_KEY|AWS_.*|AZURE_.*|GOOGLE_.*|GITHUB_TOKEN|CLOUDFLARE_.*)$/,
  }),
  copilot: (env) => ({
    folders: [
      {
        path: textOf(env["COPILOT_HOME"]) ?? home(env, ".copilot"),
        shows: ["agents", "skills", "copilot-instructions.md"],
        copies: ["config.json", "settings.json", "mcp-config.json"],
      },
      { path: home(env, ".config/github-copilot"), shows: ["apps.json", "hosts.json"], copies: [] },
      { path: home(env, ".config/gh"), shows: ["hosts.yml", "config.yml"], copies: [] },
    ],
    shows: [],
    variables: /^(?:COPILOT_.*|GH_TOKEN|GITHUB_TOKEN|GH_HOST)$/,
  }),
};

const CLAUDE_SHOWS = [
  "settings.json",
  "CLAUDE.md",
  "agents",
  "commands",
  "hooks",
  "output-styles",
  "plugins",
  "rules",
  "skills",
];

const OPENCODE_SHOWS = [
  "opencode.json",
  "opencode.jsonc",
  "AGENTS.md",
  ...["agent", "command", "mode", "plugin", "skill", "theme", "tool"].flatMap((name) => [name, `${name}s`]),
];

export function home(env: Env, path: string): string {
  return join(env["HOME"] ?? "/", path);
}

export function isSet(env: Env, name: string): boolean {
  return /^(?:1|true|yes|on)$/i.test(env[name] ?? "");
}

function googleKey(env: Env): readonly string[] {
  const path = textOf(env["GOOGLE_APPLICATION_CREDENTIALS"]);
  return path === null ? [] : [path];
}

/** The JSON object in a file, no fields when there is no file; null when it is damaged. */
export function jsonFile(path: string): Fields | null {
  return jsonObject(readSmallFile(path) ?? "{}");
}

/** Some begin with lines of comment. Null when it is damaged. */
export function jsonObject(text: string): Fields | null {
  const value = parsedJson(text.replace(/^\uFEFF/, "").replaceAll(/^\s*\/\/.*$/gm, ""));
  return isFields(value) ? value : null;
}

/** Where Claude Code keeps what belongs to its user. */
export function claudeFolder(env: Env): string {
  return textOf(env["CLAUDE_CONFIG_DIR"]) ?? home(env, ".claude");
}

/** The npm packages of programs, by the names that people type. */
const PACKAGES: Readonly<Record<string, string>> = {
  claude: "@anthropic-ai/claude-code",
  codex: "@openai/codex",
  gemini: "@google/gemini-cli",
  opencode: "opencode-ai",
  copilot: "@github/copilot",
  "claude-agent-acp": "@agentclientprotocol/claude-agent-acp",
  "codex-acp": "@agentclientprotocol/codex-acp",
};

/** The one command that installs a program; null for one that we do not know. */
export function installCommand(program: string): string | null {
  return Object.hasOwn(PACKAGES, program) ? `npm install -g ${PACKAGES[program]}` : null;
}

interface ProgramFacts {
  readonly login: string;
  readonly credit: string;
  /** The version that our tests run. */
  readonly triedVersion: string;
}

export const PROGRAM_FACTS: Readonly<Record<ProgramFormat, ProgramFacts>> = {
  claude: {
    login: "run claude once and log in, or set ANTHROPIC_API_KEY",
    credit:
      "add credit at https://platform.claude.com/settings/billing, or log in with a subscription: run claude, then /login",
    triedVersion: "2.1.328",
  },
  codex: {
    login: "run codex login, or set CODEX_API_KEY",
    credit:
      "add credit at https://platform.openai.com/settings/organization/billing, or use a ChatGPT plan: codex login",
    triedVersion: "0.169.0",
  },
  gemini: {
    login: "run gemini once and log in, or set GEMINI_API_KEY",
    credit:
      "add credit to the project of the key at https://aistudio.google.com, or log in with another account: run gemini, then /auth",
    triedVersion: "0.61.0",
  },
  opencode: {
    login: "run opencode auth login",
    credit: "add credit at the provider of the model, or use another provider: opencode auth login",
    triedVersion: "1.18.33",
  },
  copilot: {
    login: "run copilot once and log in, or set GH_TOKEN",
    credit:
      "raise the limit at https://github.com/settings/copilot, or add credit at the provider that COPILOT_PROVIDER_BASE_URL names",
    triedVersion: "1.0.102",
  },
};
