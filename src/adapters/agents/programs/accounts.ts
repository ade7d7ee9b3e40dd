import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { StreamFormat } from "../../../core/report/streams/stream-format.ts";
import type { AgentSettings } from "../../../core/settings.ts";

/** Whose account or key an agent will use, as far as its environment and files tell; nothing is asked of a service. */
export interface Account {
  /** False: it has nothing to work with. */
  readonly isThere: boolean;
  readonly says: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Null when that cannot be known. */
export function accountOf(agent: AgentSettings, baseEnv: Env): Account | null {
  if (agent.command !== null || agent.format === "text" || agent.format === "demo" || agent.format === "acp")
    return null;
  const denied = agent.envDeny.map((name) => [name, undefined]);
  const env: Env = { ...baseEnv, ...(Object.fromEntries(denied) as Env), ...agent.env };
  return ACCOUNTS[agent.format](env);
}

const ACCOUNTS: Readonly<Record<StreamFormat, (env: Env) => Account | null>> = {
  claude(env) {
    const key = keyIn(env, ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"]);
    if (isSet(env, "CLAUDE_CODE_USE_BEDROCK")) return found("Amazon Bedrock");
    if (isSet(env, "CLAUDE_CODE_USE_VERTEX")) return found("Google Vertex AI");
    if (key !== null) return billed(key);
    if (isSet(env, "CLAUDE_CODE_OAUTH_TOKEN")) return found("the subscription of CLAUDE_CODE_OAUTH_TOKEN");
    const folder = env["CLAUDE_CONFIG_DIR"] ?? home(env, ".claude");
    const login = fieldsOf(jsonIn(join(folder, ".credentials.json"))["claudeAiOauth"]);
    const kind = textOf(login["subscriptionType"]);
    if (textOf(login["accessToken"]) !== null)
      return found(`the Claude login${kind === null ? "" : ` (subscription: ${kind})`}`);
    // There the login is in the keychain, which nobody should be asked to open for this.
    return process.platform === "darwin" ? null : missing("ANTHROPIC_API_KEY");
  },
  codex(env) {
    const folder = env["CODEX_HOME"] ?? home(env, ".codex");
    const auth = jsonIn(join(folder, "auth.json"));
    const key = keyIn(env, ["CODEX_API_KEY"]);
    if (key !== null) return billed(key);
    if (Object.keys(fieldsOf(auth["tokens"])).length > 0) return found("the ChatGPT login");
    if (textOf(auth["OPENAI_API_KEY"]) !== null)
      return found(`the API key in ${join(folder, "auth.json")}, billed by use`);
    const provider = /^model_provider\s*=\s*"([^"]+)"/m.exec(textIn(join(folder, "config.toml")) ?? "")?.[1];
    return provider === undefined ? missing("CODEX_API_KEY") : found(`its provider "${provider}"`);
  },
  gemini(env) {
    const key = keyIn(env, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
    if (key !== null) return billed(key);
    if (isSet(env, "GOOGLE_GENAI_USE_VERTEXAI")) return found("Google Vertex AI");
    const account = textOf(jsonIn(home(env, ".gemini/google_accounts.json"))["active"]);
    if (textIn(home(env, ".gemini/oauth_creds.json")) === null) return missing("GEMINI_API_KEY");
    return found(`the Google login${account === null ? "" : ` ${account}`}`);
  },
  opencode(env) {
    const data = env["XDG_DATA_HOME"] ?? home(env, ".local/share");
    const providers = Object.keys(jsonIn(join(data, "opencode", "auth.json")));
    // Its own configuration may hold a key as well, in a dozen places.
    return providers.length === 0 ? null : found(`its login at ${providers.join(", ")}`);
  },
  copilot(env) {
    const own = env["COPILOT_PROVIDER_BASE_URL"];
    if (own !== undefined) return found(`the provider of COPILOT_PROVIDER_BASE_URL (${own})`);
    const token = keyIn(env, ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"]);
    if (token !== null) return found(`the GitHub account of ${token}`);
    const user = fieldsOf(jsonIn(home(env, ".copilot/config.json"))["last_logged_in_user"]);
    const name = textOf(user["login"]);
    return name === null ? null : found(`the GitHub login ${name}`);
  },
};

function found(says: string): Account {
  return { isThere: true, says };
}

function billed(variable: string): Account {
  return found(`the key in ${variable}, billed by use`);
}

function missing(variable: string): Account {
  return { isThere: false, says: `neither a login nor ${variable}` };
}

function isSet(env: Env, name: string): boolean {
  return (env[name] ?? "") !== "";
}

function keyIn(env: Env, names: readonly string[]): string | null {
  return names.find((name) => isSet(env, name)) ?? null;
}

function home(env: Env, path: string): string {
  return join(env["HOME"] ?? "/", path);
}

function textIn(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null; // not there, or not ours to read: either way it tells nothing
  }
}

function jsonIn(path: string): Fields {
  try {
    return fieldsOf(JSON.parse(textIn(path) ?? "null"));
  } catch {
    return {};
  }
}
