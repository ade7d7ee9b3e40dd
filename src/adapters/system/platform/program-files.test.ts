import { describe, expect, test } from "vitest";
import { programFiles } from "./program-files.ts";

describe.each(["linux", "darwin"] as const)("on %s", (platform) => {
  const files = (name: string): readonly string[] =>
    programFiles(platform, name, "/work", { PATH: "/usr/bin:/opt/a" });

  test("a name is looked for in each folder of the path", () => {
    expect(files("claude")).toEqual(["/usr/bin/claude", "/opt/a/claude"]);
  });

  test("a path is itself, from where we work", () => {
    expect(files("./bin/agent")).toEqual(["/work/bin/agent"]);
    expect(files("/bin/agent")).toEqual(["/bin/agent"]);
  });
});

describe("on Windows", () => {
  const files = (name: string, more: Record<string, string> = {}): readonly string[] =>
    programFiles("win32", name, String.raw`C:\work`, { PATH: String.raw`C:\bin;D:\tools`, ...more });

  test("a name gets the endings of what can be run", () => {
    expect(files("claude", { PATHEXT: ".EXE;.CMD" })).toEqual([
      String.raw`C:\bin\claude.exe`,
      String.raw`C:\bin\claude.cmd`,
      String.raw`D:\tools\claude.exe`,
      String.raw`D:\tools\claude.cmd`,
    ]);
  });

  test("one that has an ending is taken as it is", () => {
    expect(files("node.EXE")).toEqual([String.raw`C:\bin\node.EXE`, String.raw`D:\tools\node.EXE`]);
  });

  test("both slashes make a path", () => {
    expect(files("./agent.cmd")).toEqual([String.raw`C:\work\agent.cmd`]);
    expect(files(String.raw`D:\a\agent.bat`)).toEqual([String.raw`D:\a\agent.bat`]);
  });
});
