import { expect, test } from "vitest";
import { folderName } from "./text.ts";

test.each([
  ["login", "login"],
  ["feature/login", "feature-login"],
  ["../../etc", "etc"],
  ["Größe 2.0!", "Größe-2.0"],
  [" a  b ", "a-b"],
  ["line\nbreak\0", "line-break"],
  ["x".repeat(300), "x".repeat(50)],
  [`${"x".repeat(49)}/y`, "x".repeat(49)],
])("%j becomes %j", (label, name) => {
  expect(folderName(label)).toBe(name);
});

test.each(["", "  ", "/", "..", "- .", "💥"])("nothing is left of %j", (label) => {
  expect(folderName(label)).toBeNull();
});
