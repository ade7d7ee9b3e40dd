import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fieldsOf, textOf } from "../../core/report/streams/json-fields.ts";
import type { ActiveRun } from "./active-run.ts";
import { parsedJson, readText } from "./read-file.ts";

const PATIENCE_MS = 5_000;
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** What the agent has to commit before it stops; nothing when git cannot tell. */
export async function uncommittedPaths(run: ActiveRun, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const commits = run.commits ?? (await configuredCommits(run.folder, env));
  if (commits !== "agent") return [];
  const { stdout } = spawnSync("git", ["status", "--porcelain", "-z", "--no-renames"], {
    cwd: run.root,
    env: { ...env, GIT_OPTIONAL_LOCKS: "0" },
    encoding: "utf8",
    timeout: PATIENCE_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Two letters and a space come before each path.
  const paths = (stdout ?? "").split("\0").map((entry) => entry.slice(3));
  return paths.filter((path) => path !== "" && !run.ownPaths.some((own) => isIn(own, path)));
}

function isIn(own: string, path: string): boolean {
  return own === path || (own.endsWith("/") && path.startsWith(own));
}

/** For a run that does not tell; read without the schema, which takes longer to load than all the rest. */
async function configuredCommits(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const set = textOf(env["RALPH_GIT_COMMIT"]?.trim());
  if (set !== null) return set;
  const json = fieldsOf(parsedJson(readText(join(folder, "ralph.json")) ?? ""));
  const toml = readText(join(folder, "ralph.toml")) ?? "";
  const { git } = /\bcommit\b/.test(toml) ? fieldsOf(await parsedToml(toml)) : json;
  return textOf(fieldsOf(git)["commit"]) ?? "ralph";
}

async function parsedToml(text: string): Promise<unknown> {
  const { readToml } = await import("../../config/read-toml.ts");
  try {
    return readToml(text).value;
  } catch {
    return {}; // the run read it in its time, and tells whoever wants to start another
  }
}
