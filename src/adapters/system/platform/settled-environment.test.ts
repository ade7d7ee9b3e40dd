import { expect, test } from "vitest";
import { settledEnvironment } from "./settled-environment.ts";

test.each(["linux", "darwin"] as const)("on %s it is the same object: names have a case", (platform) => {
  const env = { Path: "no", PATH: "/bin" };
  expect(settledEnvironment(platform, env)).toBe(env);
});

test("on Windows the path and the user's folder have the names that we ask for", () => {
  const env = { Path: String.raw`C:\bin`, UserProfile: String.raw`C:\Users\a`, Other: "1" };
  expect(settledEnvironment("win32", env)).toEqual({
    PATH: String.raw`C:\bin`,
    USERPROFILE: String.raw`C:\Users\a`,
    HOME: String.raw`C:\Users\a`,
    Other: "1",
  });
});
