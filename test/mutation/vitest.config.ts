import { defineConfig } from "vitest/config";

/** The tests that touch nothing but values. */
export default defineConfig({
  test: {
    include: ["src/core/**/*.test.ts", "test/{signals,spec,streams}/**/*.test.ts"],
    isolate: false,
    // Changed code counts what it runs: everything takes longer.
    testTimeout: 120_000,
    testNamePattern: /^(?!.*(?:linear time|in proportion))/,
  },
});
