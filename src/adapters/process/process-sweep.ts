import { setTimeout as sleep } from "node:timers/promises";
import {
  findEnvironmentEntry,
  hasLimit,
  limiting,
  limitOf,
  type ListedProcess,
  listPids,
  listProcesses,
  type ProcessRow,
  readProcess,
} from "./process-table.ts";

/** The processes that belong to one spawned process, itself included while it lives. */
export interface Family {
  /** What all of them have in their environment. */
  readonly entry: string;
  /** The spawned process, which leads its own session and group; null when only that is known. */
  readonly leader: number | null;
  /** Processes that were there before the spawn and so cannot belong to it. */
  readonly known: ReadonlySet<number>;
  /** When it was spawned, on the monotonic clock. */
  readonly sinceMs: number;
}

/** What exits by itself in this time (the last words of a pipe, say) is not a leftover. */
const SETTLE_MS = 300;
const TERM_MS = 2_000;
/** Nothing survives KILL except what hangs inside the system, and that is beyond us. */
const GIVE_UP_MS = 10_000;
const POLL_MS = 20;
const LOOK_AGAIN_MS = 5;
/** Where a program has to be started for each look. */
const COSTLY_POLL_MS = 250;
const UNCERTAIN_LOOKS = 10;
/** After so long a number may have been given out again, so "was there before" proves nothing any more. */
const PIDS_STAY_UNIQUE_MS = 20_000;

/** Ends every process that carries the marker; answers how many there were. */
export function sweep(marker: string): Promise<number> {
  return sweepWith(markerEntry(marker));
}

/** Ends every process that has this in its environment; answers how many there were. */
export function sweepWith(entry: string): Promise<number> {
  return end({ entry, leader: null, known: new Set(), sinceMs: performance.now() }, 0);
}

export function markerEntry(marker: string): string {
  return `RALPH_MARKER=${marker}`;
}

/** Ends what is left of a family whose leader has exited; answers how many there were. */
export function endFamily(family: Family): Promise<number> {
  return end(family, SETTLE_MS);
}

/** TERM, a short while, KILL, until nobody is found any more. */
async function end(family: Family, settleMs: number): Promise<number> {
  const startedMs = performance.now();
  const asked = new Set<number>();
  let looksInVain = 0;
  for (;;) {
    // Before the look, which may take long: who was seen then may have ended meanwhile.
    const passedMs = performance.now() - startedMs;
    const { members, isCertain, isStill, isCostly } = lookFor(family);
    looksInVain = members.length === 0 ? looksInVain + 1 : 0;
    // A child may be born behind a look's back, and be an orphan by the time it is over. But then its parent was
    // listed and has ended, and the look was not still.
    if (looksInVain >= (isCertain ? (isStill ? 1 : 2) : UNCERTAIN_LOOKS)) return asked.size;
    if (passedMs > settleMs + TERM_MS + GIVE_UP_MS) return asked.size;
    const mustDie = passedMs > settleMs + TERM_MS;
    if (passedMs >= settleMs) {
      for (const pid of members) {
        if (mustDie || !asked.has(pid)) tellToEnd(pid, mustDie ? "SIGKILL" : "SIGTERM");
        asked.add(pid);
      }
    }
    await sleep(isCostly ? COSTLY_POLL_MS : members.length > 0 ? POLL_MS : LOOK_AGAIN_MS);
  }
}

/** Sends a signal to everyone in the family; a leader is spared only where there is anyone else. */
export function signalFamily(
  family: Family,
  signal: EndSignal,
  { sparesLeader = false }: { readonly sparesLeader?: boolean } = {},
): void {
  const { members } = lookFor(family);
  const others = members.filter((pid) => pid !== family.leader);
  for (const pid of sparesLeader && others.length > 0 ? others : members) tellToEnd(pid, signal);
}

/** Processor time that the family has used, as far as its members still know. */
export function cpuMsOf(family: Family): number {
  return lookFor(family).cpuMs;
}

interface Look {
  readonly members: readonly number[];
  readonly isCertain: boolean;
  /** Nobody ended between being listed and being looked at, so nobody has left a child behind our back. */
  readonly isStill: boolean;
  readonly cpuMs: number;
  readonly isCostly: boolean;
}

function lookFor(family: Family): Look {
  const pids = listPids();
  if (pids === null) return lookInListing(family);
  const rows = pids.filter((pid) => mayBelong(pid, family)).map(readProcess);
  const alive = rows.filter((row) => typeof row !== "string");
  const membership = alive.map((row) => ({ pid: row.pid, belongs: belongs(row, family) }));
  const members = new Set(membership.filter(({ belongs }) => belongs === "there").map(({ pid }) => pid));
  addDescendants(members, alive);
  return {
    members: [...members],
    isCertain: membership.every(({ belongs }) => belongs !== "unknown"),
    isStill: !rows.includes("ended"),
    cpuMs: alive.reduce((sum, { pid, cpuMs }) => (members.has(pid) ? sum + cpuMs : sum), 0),
    isCostly: false,
  };
}

/** On macOS. */
function lookInListing(family: Family): Look {
  const members = familyInListing(listProcesses(), { ...family, self: process.pid });
  return {
    members: members.map(({ pid }) => pid),
    isCertain: true,
    isStill: false,
    cpuMs: members.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    isCostly: true,
  };
}

function mayBelong(pid: number, { known, sinceMs }: Family): boolean {
  if (pid === 1 || pid === process.pid) return false;
  return !known.has(pid) || performance.now() - sinceMs > PIDS_STAY_UNIQUE_MS;
}

function belongs(row: ProcessRow, { leader, entry }: Family): ReturnType<typeof findEnvironmentEntry> {
  if (row.session === leader || row.group === leader) return "there";
  if (hasLimit(row.pid, limitOf(entry))) return "there";
  const found = findEnvironmentEntry(row.pid, entry);
  // One without an environment is just becoming another program, or has cleared it; its limit it has all the time.
  return found === "unknown" && limiting(entry) !== null ? "absent" : found;
}

/** Programs that write over their own environment (to set their title) are found by their parents. */
function addDescendants(members: Set<number>, rows: readonly Omit<ProcessRow, "session">[]): void {
  let before: number;
  do {
    before = members.size;
    for (const { pid, parent } of rows) if (members.has(parent)) members.add(pid);
  } while (members.size > before);
}

/** Who looks (`self`) is never part of it. */
export type Sought = Pick<Family, "entry" | "leader"> & { readonly self: number };

/** The members of a family among all processes: by group, by what their environment has, and by their parents. */
export function familyInListing(
  rows: readonly ListedProcess[],
  { entry, leader, self }: Sought,
): readonly ListedProcess[] {
  const ownGroup = rows.find(({ pid }) => pid === self)?.group;
  const candidates = rows.filter(({ pid }) => pid > 1 && pid !== self);
  const found = candidates.filter(
    ({ pid, group, words }) => pid === leader || group === leader || words.includes(entry),
  );
  const groups = new Set(found.map(({ group }) => group).filter((group) => group !== ownGroup));
  const members = new Set([...found, ...candidates.filter(({ group }) => groups.has(group))].map(pidOf));
  addDescendants(members, candidates);
  return candidates.filter(({ pid }) => members.has(pid));
}

function pidOf({ pid }: ListedProcess): number {
  return pid;
}

type EndSignal = "SIGTERM" | "SIGKILL";

/** Ends a process that we started in a tree of its own, with all of that. */
export function endTree(leader: number, signal: EndSignal): void {
  tellToEnd(-leader, signal);
}

/** To a process or, below zero, to a group. That it is gone already, or not ours to end, is no error. */
function tellToEnd(target: number, signal: EndSignal): void {
  try {
    process.kill(target, signal);
    // One that is stopped hears of it only when it goes on.
    if (signal === "SIGTERM") process.kill(target, "SIGCONT");
  } catch {
    // The next look round tells.
  }
}
