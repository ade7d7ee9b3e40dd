import { parentPort } from "node:worker_threads";
import { MemoryLog } from "./adapters/store/memory-log.ts";
import { playWorld, type Play } from "./eval/play-world.ts";

// One of several threads that play imagined projects for `ralph eval`: a project comes, its measures go back.
parentPort?.on("message", (play: Play) => {
  const openLog = (clock: { now(): number }): MemoryLog =>
    new MemoryLog({ now: () => clock.now(), pause: () => Promise.resolve() });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void playWorld(play, openLog).then((measures) => parentPort?.postMessage(measures));
});
