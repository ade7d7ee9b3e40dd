import { defineConfig } from "vitest/config";

/** Journeys with the real agent programs: "core" or "all" of them, and nothing else; unset, everything else. */
const realAgents = process.env["REAL_AGENTS"];
const AGENTS = "test/agents/matrix.test.ts";

export default defineConfig({
  test: {
    include: realAgents === undefined ? ["src/**/*.test.ts", "test/**/*.test.ts"] : [AGENTS],
    exclude: ["**/node_modules/**", ...(realAgents === undefined ? [AGENTS] : [])],
    pool: "forks",
    // Most tests wait for real processes: more of them than cores is quicker.
    maxWorkers: 4,
    maxConcurrency: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 5_000,
    coverage: {
      include: ["src/**/*.{ts,tsx}"],
      exclude: ["**/*.test.ts"],
    },
  },
});
