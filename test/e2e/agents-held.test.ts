import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** A project whose PATH has a program of ours by the name of a known agent. */
function withProgram(
  name: string,
  script: string,
  config: string,
  env: Record<string, string> = {},
): Project {
  const created = createProject({ config, env: { ...env } });
  const bin = join(created.root, "..", "bin");
  mkdirSync(bin);
  created.write(`../bin/${name}`, `#!/bin/bash\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  return { ...created, ralph: (...args) => ralphWith(created, bin, args) };
}

function ralphWith(of: Project, bin: string, args: readonly string[]): ReturnType<Project["ralph"]> {
  Object.assign(of.env, { PATH: `${bin}:${of.env["PATH"] ?? ""}` });
  return of.ralph(...args);
}

describe("a budget", () => {
  test.each([
    ["a model without a price", 'agent = "codex"\n[agents.codex]\nmodel = "gpt-5.5"\n', '[prices."gpt-5.5"]'],
    ["no price at all", 'agent = "copilot"\n', "[prices."],
  ])("that nobody can keep is refused: %s", async (_, config, hint) => {
    project = withProgram(config.includes("codex") ? "codex" : "copilot", "exit 1", config);
    const { code, stderr } = await project.ralph("run", "--budget", "1");
    expect(code).toBe(64);
    expect(stderr).toContain("tells its tokens, but no price says");
    expect(stderr).toContain(hint);
    expect(existsSync(join(project.root, ".ralph", "logs"))).toBe(false);
  });
});

describe("secrets", () => {
  test("do not come into the transcript in the dress of JSON either", async () => {
    const stream = [
      'read -r prompt; echo \'{"type":"user","isReplay":true,"session_id":"s"}\'',
      String.raw`echo '{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","content":"quo\"te\"secret777"}]}}'`,
      'echo \'{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}\'',
    ].join("\n");
    project = withProgram("claude", stream, 'agent = "claude"\n', { MY_SECRET: 'quo"te"secret777' });
    await project.ralph("run", "-n", "1");
    const logs = join(project.root, ".ralph", "logs");
    const kept = readdirSync(logs).map((name) => project.read(join(".ralph", "logs", name)));
    expect(kept.join("\n")).toContain("[redacted]");
    expect(kept.join("\n")).not.toContain("secret777");
  });
});

describe("the machine", () => {
  test("without a folder for temporary files gets a clear sentence", async () => {
    project = withProgram("claude", "exit 1", 'agent = "claude"\n', { TMPDIR: "/nowhere/at/all" });
    const { code, stderr } = await project.ralph("run");
    expect(stderr).toMatch(
      /^ralph: \/nowhere\/at\/all\/\S+ cannot be written: the folder for it does not exist/m,
    );
    expect(code).toBe(64);
  });
});
