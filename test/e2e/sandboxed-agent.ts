import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createProject, type Finished, type Project } from "./project.ts";

export const BUBBLEWRAP = '[sandbox]\nkind = "bubblewrap"\n';

/** An agent that is a shell script of the operator's, outside of the repository. */
export function withAgent(script: string, config = "", env: Readonly<Record<string, string>> = {}): Project {
  const made = createProject({ config: "", env: { ...env } });
  made.write("../programs/agent.sh", script);
  const command = JSON.stringify(["bash", join(made.root, "..", "programs", "agent.sh")]);
  const read = `read = ${JSON.stringify([join(made.root, "..", "programs")])}\n`;
  made.write(
    ".ralph/ralph.toml",
    `agent = "sh"\n[agents.sh]\ncommand = ${command}\n${BUBBLEWRAP}${read}${config}`,
  );
  made.commit("the agent");
  return made;
}

/** What the agent noted in the workspace, one `name=value` a line. */
export function notes(from: string): Readonly<Record<string, string>> {
  const lines = readFileSync(join(from, "notes.txt"), "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** Whoever starts it has a descriptor open that leads to everything. */
export function runAs(
  user: "ourselves" | "nobody",
  project: Project,
  program: string,
  ...args: string[]
): Promise<Finished> {
  if (user === "nobody") execFileSync("chown", ["-R", "nobody", join(project.root, "..")]);
  const others = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"];
  const command = [...(user === "nobody" ? others : []), program, ...args];
  const shell = ["-c", 'exec 200</; exec "$@"', "bash", ...command];
  const child = spawn("bash", shell, { cwd: project.root, env: project.env });
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  return once(child, "close").then(([code]) => ({ code: code as number | null, signal: null, ...said }));
}

/** By a part of their command line, which no environment can take away. */
export function running(part: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(part);
    } catch {
      return false; // gone
    }
  }).length;
}
