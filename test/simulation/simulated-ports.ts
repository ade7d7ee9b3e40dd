import { PLAIN } from "../../src/core/agents.ts";
import type { GateSettings } from "../../src/core/settings.ts";
import type { Follower, Gates, InboxFiles, Log, Notes, Ports } from "../../src/engine/ports.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { LaneTruth } from "./lane-truth.ts";
import { simulatedAgents } from "./simulated-agents.ts";
import { simulatedParallel } from "./simulated-parallel.ts";
import { simulatedSource } from "./simulated-source.ts";
import { simulatedWorkspace } from "./simulated-workspace.ts";
import type { World } from "./world.ts";

export const GATE: GateSettings = {
  name: "tests",
  command: "tests",
  timeoutMs: 60_000,
  required: true,
  onMissing: "warn",
  cwd: null,
  env: {},
  kind: null,
  retries: 0,
  expect: { exitCode: 0, outputContains: null, outputNotContains: null },
  onBaseline: "require",
};

const COMMANDS = {
  agents: ["simulated", "simulated-2"].map((name) => ({
    name,
    ...PLAIN,
    format: "text" as const,
    command: [name],
    session: "resume" as const,
  })),
  gates: [GATE],
};

/** The real engine's ports, with the simulated world behind them. */
export function simulatedPorts(
  world: World,
  facts: DurableFacts,
  log: Log,
  followers: readonly Follower[],
  step: () => Promise<void> = () => Promise.resolve(),
): Ports {
  const { lanes, repository } = world;
  return {
    log,
    commands: COMMANDS,
    source: simulatedSource(world, facts),
    agents: simulatedAgents(world, facts),
    workspace: simulatedWorkspace(repository, step),
    parallel: simulatedParallel(world, lanes ?? new LaneTruth(1, "none"), facts, step),
    gates: simulatedGates(world),
    inboxFiles: simulatedInboxFiles(world),
    notes: { path: "", read: () => Promise.resolve("") } satisfies Notes,
    clock: world.time,
    followers,
  };
}

/** As the real ones, each ends whatever carries its marker when it is over. */
function simulatedGates(world: World): Gates {
  const underWay = new Set<string>();
  return {
    check: async (gates, marker, signal, root, prefix = []) => {
      if (underWay.has(marker)) world.violate(`the gates ${marker} began while others had that marker`);
      underWay.add(marker);
      await world.time.sleep(world.random.between(100, 2_000), signal);
      underWay.delete(marker);
      // A clone may drop its copy of merged work while a worker that was away still ends its gates there.
      if (signal.aborted && !world.hasPlace(root)) return [];
      const files = world.filesAt(root);
      const [isOld, base = "0", ...checks] = prefix;
      const isRed = isOld === undefined ? world.fails(files) : world.failsWithOldChecks(files, base, checks);
      if (isOld !== undefined) world.oldChecksRed.set(marker, isRed);
      const isFlake = world.weather.flakes();
      if (isFlake) world.hasFlaked = true;
      const red = isRed || isFlake;
      return gates.map((gate) => ({
        name: gate.name,
        required: true,
        onMissing: "warn" as const,
        status: red ? ("failed" as const) : ("passed" as const),
        exitCode: red ? 1 : 0,
        durationMs: 1,
        tail: red ? "1 test failed" : "",
        tries: 1,
        unmet: null,
      }));
    },
  };
}

function simulatedInboxFiles(world: World): InboxFiles {
  return {
    publish: (file, text) => {
      world.inboxFiles.set(file, text);
      return Promise.resolve(text);
    },
    read: (file) => {
      const text = world.inboxFiles.get(file);
      return Promise.resolve(text === undefined ? null : { text, sha256: text });
    },
    withdraw: (file) => {
      world.inboxFiles.delete(file);
      return Promise.resolve();
    },
  };
}
