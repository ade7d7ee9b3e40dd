import { expect, test } from "vitest";
import { isTestConfiguration, isTestFile, mayHoldTests } from "./test-files.ts";

test.each([
  "src/a.test.ts",
  "a.spec.jsx",
  "src/__tests__/a.js",
  "test/unit/a.mjs",
  "cypress/e2e/a.cy.ts",
  "tests/test_a.py",
  "a_test.py",
  "app/tests.py",
  "a_test.go",
  "tests/a.rs",
  "src/test/java/a/B.java",
  "UserTest.kt",
  "ATests.cs",
  "tests/ATest.php",
  "spec/a_spec.rb",
  "src/a_test.cc",
  "a_unittest.cpp",
  "Tests/ATests.swift",
  "test/a_test.exs",
  "test/a_test.dart",
  "test/a.bats",
  "features/a.feature",
])("%s is a test", (path) => {
  expect(isTestFile(path)).toBe(true);
  expect(mayHoldTests(path)).toBe(true);
});

test.each([
  "src/a.ts",
  "src/testing.ts",
  "src/latest.py",
  "test/fixtures/a.ts",
  "test/__snapshots__/a.test.ts.snap",
  "test/data.json",
  "node_modules/a/a.test.js",
  "docs/tests.md",
  "src/contest.go",
  "src/latest.cpp",
  "lib/feature.dart",
  "Sources/Latest.swift",
  "types.d.ts",
  "tests/helpers.py",
])("%s is none", (path) => {
  expect(isTestFile(path)).toBe(false);
  expect(mayHoldTests(path)).toBe(false);
});

test.each([
  "jest.config.ts",
  "vitest.config.mts",
  "vitest.unit.config.ts",
  "packages/a/.mocharc.yml",
  ".mocharc",
  "ava.config.js",
  "karma.conf.js",
  "playwright.config.ts",
  "pytest.ini",
  "tox.ini",
  "setup.cfg",
  "tests/conftest.py",
  "pyproject.toml",
  ".nycrc",
  ".nycrc.json",
  "codecov.yml",
  ".codecov.yml",
  "phpunit.xml.dist",
  "Cargo.toml",
  "pom.xml",
  "build.gradle.kts",
  "package.json",
])("%s configures tests", (path) => {
  expect(isTestConfiguration(path)).toBe(true);
  expect(isTestFile(path)).toBe(false);
});

test("any Rust source may hold tests", () => {
  expect([mayHoldTests("src/a.rs"), isTestFile("src/a.rs")]).toEqual([true, false]);
});
