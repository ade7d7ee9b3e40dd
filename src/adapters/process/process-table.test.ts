import { describe, expect, test } from "vitest";
import { listProcesses, readLsof, readPsLine } from "./process-table.ts";

describe("what ps prints on macOS", () => {
  test("has the environment behind the command", () => {
    const line =
      "  912   801   912 S+     0:00.31     node agent.js PATH=/usr/bin RALPH_MARKER=m-1 HOME=/Users/a";
    const words = ["node", "agent.js", "PATH=/usr/bin", "RALPH_MARKER=m-1", "HOME=/Users/a"];
    expect(readPsLine(line)).toEqual({ pid: 912, parent: 801, group: 912, cpuMs: 310, words });
  });

  test.each(["  914   912   912 Z      0:00.00     (sh)", "ps: a line that is none"])("skips %s", (line) => {
    expect(readPsLine(line)).toBeNull();
  });

  test.each([
    ["3:21.07", 201_070],
    ["123:04.56", 7_384_560],
    ["00:00:07", 7_000],
    ["02:03:04", 7_384_000],
    ["1-02:03:04", 93_784_000],
  ])("counts processor time as %s", (time, cpuMs) => {
    expect(readPsLine(`5 1 5 S ${time} sleep 9`)).toMatchObject({ pid: 5, cpuMs });
  });
});

test("finds our own process in what the ps of this machine prints", () => {
  const own = listProcesses()?.find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid });
});

test("reads the folders in which a program works from what lsof prints", () => {
  const printed = "p812\nfcwd\nn/Users/a/shop\np901\nfcwd\nn/Users/a/my site\n";
  expect(readLsof(printed)).toEqual(["/Users/a/shop", "/Users/a/my site"]);
  expect(readLsof("")).toEqual([]);
});
