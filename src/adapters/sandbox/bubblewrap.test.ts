import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bubblewrapArguments, closedFiles, installationOf, interpreterOf, type View } from "./bubblewrap.ts";

const VIEW: View = { places: [], cwd: "/repo", network: "on", user: null };

/** From one argument on, so many. */
function from(args: readonly string[], first: string, count: number): readonly string[] {
  const index = args.indexOf(first);
  return index === -1 ? [] : args.slice(index, index + count);
}

test("each place becomes what makes it", () => {
  const args = bubblewrapArguments({
    ...VIEW,
    places: [
      { is: "shown", path: "/etc/passwd", from: "/state/passwd" },
      { is: "writable", path: "/home/me", from: "/state/home" },
      { is: "link", path: "/bin", to: "usr/bin" },
      { is: "empty", path: "/repo/.git/ralph" },
      { is: "hidden", path: "/etc/shadow" },
      { is: "temporary", path: "/tmp" },
    ],
  });
  expect(args.slice(args.indexOf("/dev") + 1).join(" ")).toBe(
    [
      "--ro-bind /state/passwd /etc/passwd",
      "--bind /state/home /home/me",
      "--symlink usr/bin /bin",
      "--tmpfs /repo/.git/ralph",
      "--ro-bind /dev/null /etc/shadow",
      "--perms 1777 --tmpfs /tmp",
      "--remount-ro / --remount-ro /repo/.git/ralph --chdir /repo --",
    ].join(" "),
  );
});

test("nothing survives, and processes outside are not seen", () => {
  expect(bubblewrapArguments(VIEW)).toEqual(
    expect.arrayContaining(["--die-with-parent", "--unshare-pid", "--unshare-user", "--unshare-ipc"]),
  );
});

test("the network is shared unless it is off", () => {
  expect(bubblewrapArguments(VIEW)).not.toContain("--unshare-net");
  expect(bubblewrapArguments({ ...VIEW, network: "off" })).toContain("--unshare-net");
});

test("root is somebody else inside", () => {
  expect(bubblewrapArguments(VIEW)).not.toContain("--uid");
  const args = bubblewrapArguments({ ...VIEW, user: { uid: 1000, gid: 1001 } });
  expect(from(args, "--uid", 4)).toEqual(["--uid", "1000", "--gid", "1001"]);
});

test("what is not for everybody is found, in whatever depth", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-closed-"));
  const make = (path: string, mode: number): string => {
    writeFileSync(join(folder, path), "");
    chmodSync(join(folder, path), mode);
    return join(folder, path);
  };
  mkdirSync(join(folder, "ssl/private"), { recursive: true });
  mkdirSync(join(folder, "ssh"));
  chmodSync(join(folder, "ssl/private"), 0o700);
  make("hosts", 0o644);
  make("ssl/private/key", 0o644);
  const shadow = make("shadow", 0o640);
  const key = make("ssh/host_key", 0o600);
  symlinkSync(shadow, join(folder, "link"));
  expect(closedFiles(folder).toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { is: "hidden", path: shadow },
    { is: "hidden", path: key },
    { is: "empty", path: join(folder, "ssl/private") },
  ]);
  expect(closedFiles(folder, 1)).toEqual([{ is: "hidden", path: shadow }]);
  expect(closedFiles(join(folder, "gone"))).toEqual([]);
  rmSync(folder, { recursive: true });
});

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "ralph-installation-")));
});
afterEach(() => rmSync(home, { recursive: true }));

function file(path: string, text = ""): string {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return join(home, path);
}

function link(path: string, target: string): string {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  symlinkSync(target, join(home, path));
  return join(home, path);
}

test("of a program of npm everything beside it, and the folder with its interpreter", () => {
  const program = file(".nvm/v24/lib/node_modules/@some/agent/cli.js");
  const found = link(".nvm/v24/bin/agent", program);
  expect(installationOf(found, home)).toEqual({
    program,
    places: [join(home, ".nvm/v24/bin"), join(home, ".nvm/v24/lib/node_modules")],
  });
});

test("of a single file its folder", () => {
  const program = file(".local/share/agent/1.2.3");
  const found = link(".local/bin/agent", program);
  expect(installationOf(found, home).places).toEqual([dirname(found), dirname(program)]);
});

test("never the whole HOME, nor what everybody puts into one folder", () => {
  const program = file("agent");
  expect(installationOf(program, home).places).toEqual([program, program]);
  expect(installationOf(program, join(home, "deeper/home")).places).toEqual([program, program]);
});

test.each([
  ["#!/usr/bin/env node\nconsole.log()", "node"],
  ["#!/usr/bin/env -S node --no-warnings\n", "node"],
  ["#! /bin/sh -e\n", "/bin/sh"],
  ["\u007fELF", null],
  ["", null],
])("%j is run by %s", (text, interpreter) => {
  expect(interpreterOf(file("program", text))).toBe(interpreter);
});
