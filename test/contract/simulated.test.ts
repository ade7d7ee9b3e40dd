import { DurableFacts } from "../simulation/durable-facts.ts";
import { MemoryLog } from "../../src/adapters/store/memory-log.ts";
import type { Ports } from "../../src/engine/ports.ts";
import { Random } from "../../src/eval/random.ts";
import { simulatedPorts } from "../simulation/simulated-ports.ts";
import { SOURCE } from "../simulation/simulated-source.ts";
import { StoryFile } from "../simulation/story-file.ts";
import { VirtualTime } from "../../src/eval/virtual-time.ts";
import { World } from "../simulation/world.ts";
import { describeInboxFiles } from "./inbox-files.contract.ts";
import { describeStories, describeTaskSource } from "./task-source.contract.ts";
import { describeWorkspace } from "./workspace.contract.ts";

/** A simulation proves something only as far as its world behaves like the real one. */
describeTaskSource("the simulated world", async () => {
  const { world, ports } = simulated();
  return {
    source: ports.source,
    async tick() {
      world.tick("task-001");
    },
    async dispose() {},
  };
});

describeTaskSource("the simulated world of stories", async () => {
  const { world, ports } = simulated(new StoryFile(3));
  return {
    source: ports.source,
    async tick() {
      world.tick("task-001");
    },
    async dispose() {},
  };
});

describeStories("the simulated world", async (text) => {
  const file = new StoryFile(3);
  const { ports } = simulated(file);
  file.write(text);
  return {
    source: ports.source,
    text: async () => file.text,
    async put(changed) {
      file.scrawl(changed);
    },
    async dispose() {},
  };
});

describeInboxFiles("in the simulated world", async () => {
  const { world, ports } = simulated();
  return {
    inboxFiles: ports.inboxFiles,
    async answer(file, text) {
      world.inboxFiles.set(file, `${world.inboxFiles.get(file) ?? ""}${text}`);
    },
    async dispose() {},
  };
});

describeWorkspace("the simulated world", async () => {
  const { world, ports } = simulated();
  return {
    workspace: ports.workspace,
    source: SOURCE.path,
    async change(name) {
      world.repository.write(name);
    },
    async undo(name) {
      world.repository.restore(name);
    },
    async commit() {
      world.repository.commit();
    },
    async dispose() {},
  };
});

function simulated(stories: StoryFile | null = null): { world: World; ports: Ports } {
  const time = new VirtualTime();
  const world = new World(new Random(1), time, stories);
  world.addTask("honest", 1, 0);
  world.addTask("honest", 1, 0);
  const log = new MemoryLog({ now: () => time.now(), pause: () => Promise.resolve() });
  return { world, ports: simulatedPorts(world, new DurableFacts([]), log, []) };
}
