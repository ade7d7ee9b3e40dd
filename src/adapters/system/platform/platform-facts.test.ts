import { expect, test } from "vitest";
import { hasKeychain, hasNamespaces, packagePlatforms } from "./platform-facts.ts";

test.each([
  ["linux", true, false, ["linux", "linuxmusl"]],
  ["darwin", false, true, ["darwin"]],
  ["win32", false, false, ["win32"]],
] as const)("of %s", (platform, namespaces, keychain, packages) => {
  expect(hasNamespaces(platform)).toBe(namespaces);
  expect(hasKeychain(platform)).toBe(keychain);
  expect(packagePlatforms(platform)).toEqual(packages);
});
