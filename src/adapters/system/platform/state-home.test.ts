import { expect, test } from "vitest";
import { stateHome } from "./state-home.ts";

test.each<[NodeJS.Platform, Record<string, string>, string]>([
  ["linux", { HOME: "/home/a" }, "/home/a/.local/state"],
  ["darwin", { HOME: "/Users/a", LOCALAPPDATA: "/no" }, "/Users/a/.local/state"],
  ["linux", { HOME: "/home/a", XDG_STATE_HOME: "/state" }, "/state"],
  ["linux", { HOME: "/home/a", XDG_STATE_HOME: "" }, "/home/a/.local/state"],
  ["win32", { LOCALAPPDATA: String.raw`C:\Users\a\AppData\Local` }, String.raw`C:\Users\a\AppData\Local`],
  ["win32", { HOME: String.raw`C:\Users\a` }, String.raw`C:\Users\a\.local\state`],
])("on %s with %o it is %s", (platform, env, folder) => {
  expect(stateHome(platform, env)).toBe(folder);
});
