import { expect, test } from "vitest";
import { outsidePath } from "./outside-path.ts";

test.each<[string, string, string]>([
  ["our own tools go", "/opt/ralph/node_modules/.bin:/usr/bin", "/usr/bin"],
  ["our own Node goes", "/usr/bin:/opt/ralph/node_modules/node/bin", "/usr/bin"],
  ["a slash at the end changes nothing", "/opt/ralph/node_modules/.bin/:/usr/bin", "/usr/bin"],
  ["a way round changes nothing", "/opt/x/../ralph/node_modules/.bin:/usr/bin", "/usr/bin"],
  [
    "the user's tools stay",
    "/home/me/app/node_modules/.bin:/usr/bin",
    "/home/me/app/node_modules/.bin:/usr/bin",
  ],
  [
    "tools beside ours stay",
    "/opt/ralph/bin:/opt/ralph2/node_modules/.bin",
    "/opt/ralph/bin:/opt/ralph2/node_modules/.bin",
  ],
  ["an empty entry stays", ":/usr/bin", ":/usr/bin"],
  ["nothing stays nothing", "", ""],
])("%s", (_, path, outside) => {
  expect(outsidePath(path, "/opt/ralph")).toBe(outside);
});
