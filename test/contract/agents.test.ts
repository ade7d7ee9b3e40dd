import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgents } from "../../src/adapters/agents/command-agents.ts";
import type { DemoStep } from "../../src/core/demo/demo-script.ts";
import { agentsOptions } from "../fixtures/agents-options.ts";
import { demoRequest } from "../fixtures/demo-request.ts";
import { describeAgents, type AgentBehaviour } from "./agents.contract.ts";

describeAgents("programs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-agents-"));
  const ralphDir = join(folder, ".ralph");
  return {
    agents: createAgents(agentsOptions(folder)),
    request(behaviour) {
      const request = demoRequest(folder, stepsOf(behaviour));
      if (behaviour.does !== "nothing") return request;
      return { ...request, agent: { ...request.agent, command: ["no-such-program-here"] } };
    },
    alive: countProcesses,
    transcript: (report) => readFile(join(ralphDir, report.transcript.path)),
    now: Date.now,
    dispose: async () => rmSync(folder, { recursive: true }),
  };
});

function stepsOf(behaviour: AgentBehaviour): DemoStep[] {
  switch (behaviour.does) {
    case "completes":
      return [{ say: "done" }, { promise: "COMPLETE" }];
    case "says":
      return [{ say: behaviour.text }];
    case "promises":
      return [{ promise: behaviour.promise }];
    case "blocks":
      return [{ blocked: behaviour.reason }];
    case "asks":
      return [{ decide: behaviour.question }];
    case "fails":
      return [{ crash: behaviour.exitCode }];
    case "hangs":
      return [{ hang: true }];
    case "listens":
      return [{ awaitMessage: 10_000 }];
    case "leaves":
      return [{ leave: "setsid" }];
    case "nothing":
      return [];
  }
}

function countProcesses(marker: string): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => environmentOf(pid).includes(`RALPH_MARKER=${marker}`)).length;
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // gone meanwhile
  }
}
