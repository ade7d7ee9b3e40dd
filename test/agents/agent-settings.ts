import { join } from "node:path";

/** The programs that have an interface of their own; each is also what an ACP program works with. */
export type AgentProgram = "claude" | "codex" | "gemini" | "opencode" | "copilot";

/** What makes a program talk to the scripted model: variables, and files below its HOME. */
export interface AgentSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

/** Few retries: a failure shows in seconds, and a flaky model is still got over. */
const RETRIES = 2;

export function agentSettings(agent: AgentProgram, scenarioUrl: string): AgentSettings {
  return SETTINGS[agent](scenarioUrl);
}

const SETTINGS: Readonly<Record<AgentProgram, (scenarioUrl: string) => AgentSettings>> = {
  claude,
  codex,
  gemini,
  opencode,
  copilot,
};

function claude(scenarioUrl: string): AgentSettings {
  return {
    env: {
      ANTHROPIC_BASE_URL: scenarioUrl,
      ANTHROPIC_API_KEY: "dummy",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
    },
    files: {},
  };
}

function codex(scenarioUrl: string): AgentSettings {
  // A model that the program knows gets the tool for patches, and with it events about files.
  const config = `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${scenarioUrl}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = ${RETRIES}
stream_max_retries = ${RETRIES}
`;
  return { env: { SCRIPTED_API_KEY: "dummy" }, files: { ".codex/config.toml": config } };
}

function gemini(scenarioUrl: string): AgentSettings {
  const settings = {
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
    security: { auth: { selectedType: "gemini-api-key" } },
  };
  return {
    env: {
      GOOGLE_GEMINI_BASE_URL: scenarioUrl,
      GEMINI_API_KEY: "dummy",
      GEMINI_TELEMETRY_ENABLED: "false",
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
    files: { ".gemini/settings.json": JSON.stringify(settings) },
  };
}

function opencode(scenarioUrl: string): AgentSettings {
  const model = {
    name: "Scripted",
    tool_call: true,
    limit: { context: 200_000, output: 8_000 },
    cost: { input: 10, output: 10 },
  };
  const config = {
    // It adds this where it is missing.
    $schema: "https://opencode.ai/config.json",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${scenarioUrl}/v1`, apiKey: "dummy" },
        models: { "scripted-model": model },
      },
    },
    model: "scripted/scripted-model",
    small_model: "scripted/scripted-model",
    enabled_providers: ["scripted"],
    share: "disabled",
  };
  return {
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      // Reading the list of all models is a quarter of its start.
      OPENCODE_MODELS_PATH: join(import.meta.dirname, "programs", "models.json"),
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      // Otherwise it installs a package into each new HOME.
      npm_config_offline: "true",
    },
    files: { ".config/opencode/opencode.json": JSON.stringify(config) },
  };
}

function copilot(scenarioUrl: string): AgentSettings {
  return {
    env: {
      COPILOT_PROVIDER_BASE_URL: `${scenarioUrl}/v1`,
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: "dummy",
      COPILOT_MODEL: "scripted-model",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    },
    files: {},
  };
}
