import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";

/** Journeys with the real agent programs: "core" or "all" of them, and nothing else; unset, everything else. */
const realAgents = process.env["REAL_AGENTS"];
const AGENTS = ["test/agents/matrix.test.ts", "test/agents/reader.test.ts"];

/** They leave nothing behind in their process, so it can run one file after the other. */
const PURE = ["src/core/**/*.test.ts", "test/{signals,spec,streams}/**/*.test.ts"];
const UNITS = ["src/**/*.test.ts"];
const ALL = ["test/**/*.test.ts"];
const NODE_MODULES = "**/node_modules/**";

export default defineConfig({
  test: {
    projects:
      realAgents === undefined
        ? [
            { extends: true, test: { name: "pure", include: PURE, exclude: [NODE_MODULES], isolate: false } },
            {
              extends: true,
              test: { name: "units", include: UNITS, exclude: [NODE_MODULES, ...PURE], isolate: false },
            },
            {
              extends: true,
              test: { name: "outside", include: ALL, exclude: [NODE_MODULES, ...AGENTS, ...PURE] },
            },
          ]
        : [{ extends: true, test: { name: "agents", include: AGENTS } }],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // Most tests wait for real processes: more of them than cores is quicker.
    maxWorkers: 4,
    maxConcurrency: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 5_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: {
      include: ["src/**/*.{ts,tsx}"],
      exclude: ["**/*.test.ts"],
    },
  },
});
