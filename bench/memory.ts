import { rmSync } from "node:fs";
import { figureOf, type Benchmark } from "./benchmark.ts";
import { judgeSoak } from "./soak/judge-soak.ts";
import { runSoak } from "./soak/run-soak.ts";

const ITERATIONS = 10_000;
const TARGET = { of: "ratio", atMost: 1.1 } as const;

export const memory: Benchmark = {
  about: `One run of ${ITERATIONS.toLocaleString("en")} iterations: what it holds in the end. The floor is what it held at iteration 500.`,
  async measure() {
    const soak = await runSoak(ITERATIONS);
    rmSync(soak.folder, { recursive: true, force: true });
    const { figures, complaints } = judgeSoak(soak);
    if (complaints.length > 0) throw new Error(`the run grew: ${complaints.join("; ")}`);
    const beside = (name: "rss" | "heap") => ({
      ours: [[figures[`${name}_mb_at_end`]]],
      floor: [[figures[`${name}_mb_at_500`]]],
    });
    const about = { unit: "MB", floorIs: "at iteration 500", target: TARGET } as const;
    return [
      figureOf({ name: "memory (RSS)", ...about }, beside("rss")),
      figureOf({ name: "heap", ...about }, beside("heap")),
    ];
  },
};
