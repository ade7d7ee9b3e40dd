import { describe, expect, test } from "vitest";
import { describeUrl, readUrl } from "./connection-settings.ts";

test.each([
  ["postgres://ada:se%40cret@db.example:6543/team", "db.example:6543/team"],
  ["postgresql://db.example/team?sslmode=require", "db.example:5432/team"],
  ["postgres://ada:x@[::1]:5433/team", "::1:5433/team"],
  ["postgres://ada@/team?host=/var/run/postgresql", "/var/run/postgresql/team"],
  ["postgres:///team", "localhost:5432/team"],
])("%s is shown as %s", (url, shown) => {
  expect(describeUrl(url)).toBe(shown);
});

test("user, password and options are decoded", () => {
  expect(readUrl("postgres://a%2Fda:p%40ss%25@h:1/d%C3%A9?sslmode=disable")).toEqual({
    host: "h",
    port: 1,
    user: "a/da",
    password: "p@ss%",
    database: "dé",
    tls: false,
    name: "h:1/dé",
  });
});

describe("a URL that is none is refused without repeating it", () => {
  test.each([
    ["db.example/hunter2", "is no URL"],
    ["https://ada:hunter2@h/d", "begins with https:"],
    ["postgres://ada:hunter2@h:99999/d", "is no URL"],
    ["postgres://ada:hunter2@h,i:1/d", "names several hosts"],
    ["postgres://ada:hunter2%@h/d", "has a % that stands for nothing; write %25 for a % in a password"],
    ["postgres://ada:hunter2@h/d?sslmode=sure", "has an unknown sslmode (sure)"],
    ["", "is no URL"],
  ])("%s", (url, says) => {
    expect(() => readUrl(url)).toThrow(
      expect.objectContaining({
        code: "config",
        message: `[queue] url ${says}`,
        hint: "write it as postgres://USER:PASSWORD@HOST:5432/DATABASE",
      }),
    );
  });
});
