import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // Most tests wait for real processes: more of them than cores is quicker.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
    coverage: {
      include: ["src/**/*.ts"],
      exclude: ["**/*.test.ts"],
    },
  },
});
