import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const IN_MEMORY = "/dev/shm";
/** The largest tests write transcripts of some hundred megabytes each. */
const ROOM_BYTES = 6_000_000_000;

/** A new folder for a while: in memory if there is plenty, because most of what tests do is to write small files. */
export function makeScratchFolder(): string {
  if (hasRoom()) {
    const folder = mkdtempSync(join(IN_MEMORY, "ralph-check-"));
    if (canRunProgramsIn(folder)) return folder;
    rmSync(folder, { recursive: true });
  }
  return mkdtempSync(join(tmpdir(), "ralph-check-"));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > ROOM_BYTES && freemem() > ROOM_BYTES;
  } catch {
    return false; // no Linux
  }
}

function canRunProgramsIn(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}
