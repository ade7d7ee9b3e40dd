import { isProgramFormat, type ProgramFormat } from "../../../core/agents.ts";
import { join } from "node:path";
import { fieldsOf, textOf, type Fields } from "../../../core/streams/json-fields.ts";
import { readSmallFile } from "../../process/atomic-file.ts";
import type { AgentSettings } from "../../../core/settings.ts";
import { claudeFolder, type Env, home, isSet, jsonFile } from "./program-belongings.ts";

/** Whose account or key an agent will use, as far as its environment and files tell; nothing is asked of a service. */
export interface Account {
  /** False: it has nothing to work with. */
  readonly isThere: boolean;
  readonly says: string;
}

/** Null when that cannot be known. */
export function accountOf(agent: AgentSettings, baseEnv: Env): Account | null {
  if (agent.command !== null || !isProgramFormat(agent.format)) return null;
  const denied = agent.envDeny.map((name) => [name, undefined]);
  const env: Env = { ...baseEnv, ...(Object.fromEntries(denied) as Env), ...agent.env };
  return ACCOUNTS[agent.format](env);
}

const ACCOUNTS: Readonly<Record<ProgramFormat, (env: Env) => Account | null>> = {
  claude(env) {
    const folder = claudeFolder(env);
    const settings = jsonIn(join(folder, "settings.json"));
    const all: Env = { ...env, ...textsIn(settings["env"]) };
    if (isSet(all, "CLAUDE_CODE_USE_BEDROCK")) return found("Amazon Bedrock");
    if (isSet(all, "CLAUDE_CODE_USE_VERTEX")) return found("Google Vertex AI");
    const key = keyIn(all, ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"]);
    if (key !== null) return billed(key);
    if (textOf(settings["apiKeyHelper"]) !== null) return found("the key of its apiKeyHelper, billed by use");
    if (textOf(all["CLAUDE_CODE_OAUTH_TOKEN"]) !== null)
      return found("the subscription of CLAUDE_CODE_OAUTH_TOKEN");
    const login = fieldsOf(jsonIn(join(folder, ".credentials.json"))["claudeAiOauth"]);
    const kind = textOf(login["subscriptionType"]);
    if (textOf(login["accessToken"]) !== null)
      return found(`the Claude login${kind === null ? "" : ` (subscription: ${kind})`}`);
    // On a Mac the login is in the keychain, which nobody should be asked to open for this.
    return process.platform === "darwin" ? null : missing("ANTHROPIC_API_KEY");
  },
  codex(env) {
    const folder = textOf(env["CODEX_HOME"]) ?? home(env, ".codex");
    const config = readSmallFile(join(folder, "config.toml")) ?? "";
    const provider = topTextOf(config, "model_provider") ?? "openai";
    // What another provider wants, no login of its own gives it.
    if (provider !== "openai") return found(`its provider "${provider}"`);
    const key = keyIn(env, ["CODEX_API_KEY"]);
    if (key !== null) return billed(key);
    const auth = jsonIn(join(folder, "auth.json"));
    if (Object.keys(fieldsOf(auth["tokens"])).length > 0) return found("the ChatGPT login");
    if (textOf(auth["OPENAI_API_KEY"]) !== null)
      return found(`the API key in ${join(folder, "auth.json")}, billed by use`);
    const isInFile = (topTextOf(config, "cli_auth_credentials_store") ?? "file") === "file";
    return isInFile ? missing("CODEX_API_KEY") : null;
  },
  gemini(env) {
    const folder = home(env, ".gemini");
    switch (geminiAccess(env, folder)) {
      case "gemini-api-key":
        // Otherwise in the keychain, or in one of several files.
        return textOf(env["GEMINI_API_KEY"]) === null ? null : billed("GEMINI_API_KEY");
      case "vertex-ai":
        return found("Google Vertex AI");
      case "oauth-personal":
      case null: {
        const login = jsonIn(join(folder, "oauth_creds.json"));
        const account = textOf(jsonIn(join(folder, "google_accounts.json"))["active"]);
        if (Object.keys(login).length > 0)
          return found(`the Google login${account === null ? "" : ` ${account}`}`);
        return readSmallFile(join(folder, ".env")) === null ? missing("GEMINI_API_KEY") : null;
      }
      default:
        return null;
    }
  },
  opencode(env) {
    const data = textOf(env["XDG_DATA_HOME"]) ?? home(env, ".local/share");
    const providers = Object.keys(jsonIn(join(data, "opencode", "auth.json")));
    // Its own configuration may hold a key as well, in a dozen places.
    return providers.length === 0 ? null : found(`its login at ${providers.join(", ")}`);
  },
  copilot(env) {
    const own = textOf(env["COPILOT_PROVIDER_BASE_URL"]);
    if (own !== null) return found(`the provider of COPILOT_PROVIDER_BASE_URL (${own})`);
    const token = keyIn(env, ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"]);
    if (token !== null) return found(`the GitHub account of ${token}`);
    const folder = textOf(env["COPILOT_HOME"]) ?? home(env, ".copilot");
    const config = jsonIn(join(folder, "config.json"));
    const name = textOf(fieldsOf(config["lastLoggedInUser"] ?? config["last_logged_in_user"])["login"]);
    return name === null ? null : found(`the GitHub login ${name}`);
  },
};

/** What a person has chosen in the program counts before the environment. */
function geminiAccess(env: Env, folder: string): string | null {
  const security = fieldsOf(jsonIn(join(folder, "settings.json"))["security"]);
  const chosen = textOf(fieldsOf(security["auth"])["selectedType"]);
  if (chosen !== null) return chosen;
  if (isSet(env, "GOOGLE_GENAI_USE_GCA")) return "oauth-personal";
  if (isSet(env, "GOOGLE_GENAI_USE_VERTEXAI")) return "vertex-ai";
  return textOf(env["GEMINI_API_KEY"]) === null ? null : "gemini-api-key";
}

function found(says: string): Account {
  return { isThere: true, says };
}

function billed(variable: string): Account {
  return found(`the key in ${variable}, billed by use`);
}

function missing(variable: string): Account {
  return { isThere: false, says: `neither a login nor ${variable}` };
}

/** Empty ones do not count: people unset variables so. */
function keyIn(env: Env, names: readonly string[]): string | null {
  return names.find((name) => textOf(env[name]) !== null) ?? null;
}

function jsonIn(path: string): Fields {
  return fieldsOf(jsonFile(path));
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsOf(value)).filter(([, text]) => typeof text === "string");
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}

/** Of a TOML file, from the part before its first section. */
function topTextOf(toml: string, key: string): string | null {
  const top = toml.split(/^\s*\[/m)[0] ?? "";
  return (
    new RegExp(`^\\s*${key}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, "m").exec(top)?.slice(1).find(Boolean) ?? null
  );
}
