import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { familyInListing, type Sought } from "./process-sweep.ts";
import { type ListedProcess, listProcesses } from "./process-table.ts";

const ENTRY = "RALPH_MARKER=m-1";
const SELF = 50;

type Row = readonly [pid: number, parent: number, group: number, more?: Partial<ListedProcess>];

function members(rows: readonly Row[], over: Partial<Sought> = {}): readonly number[] {
  const listed = rows.map(([pid, parent, group, more = {}]): ListedProcess => {
    return { pid, parent, group, cpuMs: 1, words: ["x"], ...more };
  });
  const sought = { entry: ENTRY, leader: 100, self: SELF, ...over };
  return familyInListing(listed, sought)
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);
}

describe("in a list of processes", () => {
  const US: Row = [SELF, 1, 40];

  test("a family is its leader's group, and what it started elsewhere", () => {
    expect(
      members([US, [1, 0, 1], [100, SELF, 100], [101, 100, 100], [102, 101, 102], [200, 1, 200]]),
    ).toEqual([100, 101, 102]);
  });

  test("one that left the group and lost its parent is known by its environment, with its own group", () => {
    const carries = { words: ["node", "server.js", ENTRY] };
    expect(members([US, [300, 1, 300, carries], [301, 1, 300], [302, 301, 302]])).toEqual([300, 301, 302]);
  });

  test("a marker is enough after a crash, and another's marker is none", () => {
    const rows: readonly Row[] = [
      US,
      [300, 1, 300, { words: [ENTRY] }],
      [400, 1, 400, { words: [`${ENTRY}0`] }],
    ];
    expect(members(rows, { leader: null })).toEqual([300]);
  });

  test("our own group is not the family's, though a member of it is in there", () => {
    expect(members([US, [60, SELF, 40], [61, SELF, 40, { words: [ENTRY] }]], { leader: null })).toEqual([61]);
  });
});

test("of real processes it finds the leader, its child, and one that left by a marker alone", async () => {
  const marker = `RALPH_MARKER=listed-${process.pid}`;
  const script = "(setsid sleep 61.5 &); sleep 61.5 & echo ready; wait";
  const env = { PATH: process.env["PATH"], RALPH_MARKER: marker.slice("RALPH_MARKER=".length) };
  const leader = spawn("sh", ["-c", script], { detached: true, env, stdio: ["ignore", "pipe", "ignore"] });
  const sought = { entry: marker, leader: leader.pid ?? 0, self: process.pid };
  const look = (): readonly ListedProcess[] => familyInListing(listProcesses() ?? [], sought);
  try {
    await expect.poll(() => look().filter(({ words }) => words[0] === "sleep").length).toBe(2);
    const found = look();
    expect(found.some(({ pid }) => pid === leader.pid)).toBe(true);
    const [alone] = found.filter(({ group }) => group !== leader.pid);
    expect(alone?.words.slice(0, 2)).toEqual(["sleep", "61.5"]);
  } finally {
    for (const { pid } of look()) process.kill(pid, "SIGKILL");
  }
});
