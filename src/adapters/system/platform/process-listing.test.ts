import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { processListing } from "./process-listing.ts";

const MAC = `
    1     0     1 Ss     3:21.07 Mon Sep 22 08:15:01 2025     /sbin/launchd
  912   801   912 S+     0:00.31 Tue Oct  7 19:02:44 2025     node agent.js PATH=/usr/bin RALPH_MARKER=m-1 HOME=/Users/a
  913   912   912 R    123:04.56 Tue Oct  7 19:02:45 2025     sh
  914   912   912 Z      0:00.00 Tue Oct  7 19:02:46 2025     (sh)
ps: a line that is none
`;

test("what ps prints on macOS is read, with the environment", () => {
  const { command, read } = processListing("darwin");
  expect(command).toEqual(["ps", "-A", "-E", "-ww", "-o", "pid=,ppid=,pgid=,stat=,time=,lstart=,command="]);
  expect(read(MAC)).toEqual([
    {
      pid: 1,
      parent: 0,
      group: 1,
      cpuMs: 201_070,
      startedAt: new Date(2025, 8, 22, 8, 15, 1).getTime(),
      words: ["/sbin/launchd"],
    },
    {
      pid: 912,
      parent: 801,
      group: 912,
      cpuMs: 310,
      startedAt: new Date(2025, 9, 7, 19, 2, 44).getTime(),
      words: ["node", "agent.js", "PATH=/usr/bin", "RALPH_MARKER=m-1", "HOME=/Users/a"],
    },
    expect.objectContaining({ pid: 913, parent: 912, cpuMs: 7_384_560 }),
  ]);
});

test.each([
  ["00:00:07", 7_000],
  ["02:03:04", 7_384_000],
  ["1-02:03:04", 93_784_000],
])("other systems count processor time as %s", (time, cpuMs) => {
  const line = `5 1 5 S ${time} Tue Oct  7 19:02:44 2025 sleep 9`;
  expect(processListing("freebsd").read(line)).toMatchObject([{ pid: 5, cpuMs }]);
});

test("what PowerShell prints on Windows is read", () => {
  const { command, read } = processListing("win32");
  expect(command[0]).toBe("powershell.exe");
  expect(read("4 0 1759856564000 120\r\n5120 4 1759856565123 46\r\n\r\n")).toEqual([
    { pid: 4, parent: 0, group: null, cpuMs: 120, startedAt: 1_759_856_564_000, words: [] },
    { pid: 5120, parent: 4, group: null, cpuMs: 46, startedAt: 1_759_856_565_123, words: [] },
  ]);
});

test("the ps of this machine is understood: we are in its list", () => {
  const { command, read } = processListing("linux");
  const { stdout } = spawnSync(command[0]!, command.slice(1), {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  const own = read(stdout).find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid });
  expect(own?.startedAt).toBeLessThanOrEqual(Date.now() + 1_000);
});
