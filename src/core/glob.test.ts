import { describe, expect, test } from "vitest";
import { globMatcher, literalGlob } from "./glob.ts";

describe("a glob", () => {
  test.each([
    ["migrations/**", "migrations/2026/one.sql", true],
    ["migrations", "migrations/one.sql", true],
    ["migrations/", "migrations/one.sql", true],
    ["migrations", "db/migrations/one.sql", true],
    ["/migrations", "db/migrations/one.sql", false],
    ["db/migrations", "migrations/one.sql", false],
    ["*.lock", "yarn.lock", true],
    ["*.lock", "packages/a/yarn.lock", true],
    ["*.lock", "yarn.lock.txt", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/deep/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/deep/er/a.ts", true],
    ["src/**/*.ts", "src/deep/a.js", false],
    ["./check.sh", "check.sh", true],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["[ab].txt", "a.txt", true],
    ["[!ab].txt", "a.txt", false],
    ["[a-c].txt", "b.txt", true],
    ["[x-].txt", "-.txt", true],
    ["{a,b}/*.json", "b/x.json", true],
    ["{a,b}/*.json", "c/x.json", false],
    ["a.b", "axb", false],
    ["(x).ts", "(x).ts", true],
    ["ä*.ts", "äö.ts", true],
    ["", "anything", false],
    ["**", "any/thing", true],
  ])("%s means %s: %s", (pattern, path, isMeant) => {
    expect(globMatcher(pattern)(path)).toBe(isMeant);
  });

  test("can mean exactly one path, whatever is in its name", () => {
    const name = "scripts/[a]{b,c}*?.sh";
    expect(globMatcher(literalGlob(name))(name)).toBe(true);
    expect(globMatcher(literalGlob(name))("scripts/abxy.sh")).toBe(false);
  });
});
