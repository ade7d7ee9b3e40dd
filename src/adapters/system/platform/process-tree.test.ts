import { describe, expect, test } from "vitest";
import { ownTree, treeEnd } from "./process-tree.ts";

describe.each(["linux", "darwin"] as const)("on %s", (platform) => {
  test("a process leads a group of its own", () => {
    expect(ownTree(platform).detached).toBe(true);
  });

  test("a process gets the signal, or a whole group", () => {
    expect(treeEnd(platform, 123, false)).toEqual({ target: 123 });
    expect(treeEnd(platform, -123, true)).toEqual({ target: -123 });
  });
});

describe("on Windows", () => {
  test("a process is ours, so that it ends with us, and shows no window", () => {
    expect(ownTree("win32")).toEqual({ detached: false, windowsHide: true });
  });

  test("taskkill ends the tree: first it asks, then it does not", () => {
    expect(treeEnd("win32", 123, false)).toEqual({ command: ["taskkill.exe", "/PID", "123", "/T"] });
    expect(treeEnd("win32", -123, true)).toEqual({ command: ["taskkill.exe", "/PID", "123", "/T", "/F"] });
  });
});
