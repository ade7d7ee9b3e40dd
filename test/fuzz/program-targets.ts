import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load-config.ts";
import { ITERATION_FILES } from "../../src/core/streams/agent-report.ts";
import { startMcp } from "../e2e/mcp-client.ts";
import { mutate } from "./mutate.ts";
import { CONFIG_JSON, TOML, YAML } from "./seeds.ts";
import type { Target } from "./target.ts";

const CONFIGURATIONS = { "ralph.toml": TOML, "ralph.json": CONFIG_JSON, "config.yaml": YAML } as const;

/** A whole configuration, from the file to the values in effect. */
const configuration: Target = {
  name: "configuration",
  make(random) {
    const name = random.pick(Object.keys(CONFIGURATIONS) as (keyof typeof CONFIGURATIONS)[]);
    return `${name}\n${mutate(random, CONFIGURATIONS[name])}`;
  },
  open() {
    const root = mkdtempSync(join(tmpdir(), "ralph-fuzz-"));
    return {
      async take(input) {
        const name = input.slice(0, input.indexOf("\n"));
        const path = join(root, name);
        writeFileSync(path, input.slice(name.length + 1));
        try {
          await loadConfig({ root, ralphDir: root, env: {}, builtInAgents: ["claude"] });
        } finally {
          rmSync(path);
        }
      },
      close: () => rmSync(root, { recursive: true, force: true }),
    };
  },
};

const MESSAGES = [
  {
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
  },
  { method: "tools/list", params: {} },
  { method: "tools/call", params: { name: "report_progress", arguments: { text: "half" } } },
  { method: "tools/call", params: { name: "task_blocked", arguments: { reason: "no key" } } },
  {
    method: "tools/call",
    params: { name: "ask_decision", arguments: { question: "a?", options: ["a", "b"] } },
  },
].map((message, id) => JSON.stringify({ jsonrpc: "2.0", id: 1_000_000 + id, ...message }));

/** The built program's MCP server: after whatever it was told, it answers. */
const mcp: Target = {
  name: "mcp",
  make: (random) =>
    Array.from({ length: random.between(1, 5) }, () => mutate(random, random.pick(MESSAGES))).join("\n"),
  async open() {
    const folder = mkdtempSync(join(tmpdir(), "ralph-fuzz-"));
    writeFileSync(join(folder, ITERATION_FILES.task), '{"id":"one","title":"x"}');
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
    const client = startMcp(folder, env, "--folder", folder);
    await client.initialize();
    return {
      async take(input) {
        client.write(`${input}\n`);
        const answer = await client.request("ping");
        assert.ok(answer.result !== undefined, JSON.stringify(answer));
        const reports = readIfThere(join(folder, ITERATION_FILES.reports));
        for (const line of reports.split("\n").filter((text) => text !== "")) JSON.parse(line);
      },
      async close() {
        const { code, stderr } = await client.end();
        rmSync(folder, { recursive: true, force: true });
        assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
      },
    };
  },
};

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // nothing was reported yet
  }
}

export const PROGRAMS: readonly Target[] = [configuration, mcp];
