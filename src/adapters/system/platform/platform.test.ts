import { describe, expect, test } from "vitest";
import {
  hasKeychain,
  hasNamespaces,
  keepAwakeCommand,
  ownTree,
  packagePlatforms,
  programFiles,
  settledEnvironment,
  shellCommand,
  stateHome,
  treeEnd,
  workingFolderListing,
} from "./platform.ts";

test.each([
  ["linux", true, false, ["linux", "linuxmusl"]],
  ["darwin", false, true, ["darwin"]],
  ["win32", false, false, ["win32"]],
] as const)("of %s", (platform, namespaces, keychain, packages) => {
  expect(hasNamespaces(platform)).toBe(namespaces);
  expect(hasKeychain(platform)).toBe(keychain);
  expect(packagePlatforms(platform)).toEqual(packages);
});

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

const LINE = `npm test -- "a b" && echo 'ok'`;

test.each(["linux", "darwin", "freebsd"] as const)(
  "%s has sh, which gets the line as one argument",
  (platform) => {
    expect(shellCommand(platform, LINE)).toEqual({ command: ["sh", "-c", LINE], isVerbatim: false });
  },
);

test("Windows has cmd, which takes off the outer quotes and reads the rest as it stands", () => {
  expect(shellCommand("win32", LINE)).toEqual({
    command: ["cmd.exe", "/d", "/s", "/c", `"${LINE}"`],
    isVerbatim: true,
  });
});

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

test("Linux asks systemd, for as long as a program reads our pipe", () => {
  const command = keepAwakeCommand("linux", 7) ?? [];
  expect(command[0]).toBe("systemd-inhibit");
  expect(command).toContain("--what=idle:sleep");
  expect(command.at(-1)).toBe("cat");
});

test("macOS has caffeinate, which watches our process", () => {
  expect(keepAwakeCommand("darwin", 7)).toEqual(["caffeinate", "-i", "-w", "7"]);
});

test("Windows is told by PowerShell, which ends when our pipe does", () => {
  const command = keepAwakeCommand("win32", 7) ?? [];
  expect(command[0]).toBe("powershell.exe");
  expect(command.at(-1)).toMatch(/SetThreadExecutionState\(\[uint32\]2147483649\).*ReadToEnd\(\)$/);
});

test("of others nobody knows how", () => {
  expect(keepAwakeCommand("aix", 7)).toBeNull();
});

test("on macOS lsof tells in which folders a program works", () => {
  const listing = workingFolderListing("darwin", "git");
  expect(listing?.command).toEqual(["lsof", "-a", "-c", "git", "-d", "cwd", "-Fn"]);
  expect(listing?.read("p812\nfcwd\nn/Users/a/shop\np901\nfcwd\nn/Users/a/my site\n")).toEqual([
    "/Users/a/shop",
    "/Users/a/my site",
  ]);
  expect(listing?.read("")).toEqual([]);
});

test("on Windows nobody tells", () => {
  expect(workingFolderListing("win32", "git")).toBeNull();
});
