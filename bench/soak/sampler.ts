// Loaded into the program under test before it starts (`--import`): writes down what it holds, from within, since
// nobody outside can see its heap. What is garbage by now is collected first, so that a growth is one.
import { appendFileSync, readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
  readonly descriptors: number;
  /** Processor time of ours so far, in milliseconds; that of children is theirs. */
  readonly cpu: number;
}

const path = process.env["SOAK_SAMPLES"];
const isProgram = (process.argv[1] ?? "").endsWith("start.cjs") && process.argv[2] === "run";
if (path !== undefined && isProgram) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setInterval(
    () => {
      collect();
      const { rss, heapUsed, external } = process.memoryUsage();
      const descriptors = readdirSync("/proc/self/fd").length;
      const { user, system } = process.cpuUsage();
      const cpu = Math.round((user + system) / 1_000);
      const sample: Sample = { at: Date.now(), rss, heap: heapUsed, external, descriptors, cpu };
      appendFileSync(path, `${JSON.stringify(sample)}\n`);
    },
    Number(process.env["SOAK_EVERY_MS"] ?? "5000"),
  ).unref();
}
