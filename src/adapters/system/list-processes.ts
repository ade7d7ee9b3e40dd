import { execFileSync } from "node:child_process";
import { processListing, type ListedProcess } from "./platform/process-listing.ts";
import { THIS_PLATFORM } from "./platform/this-platform.ts";

const PATIENCE_MS = 10_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

/** All processes, as the system's own program lists them; null when it cannot. */
export function listProcesses(): readonly ListedProcess[] | null {
  const { command, read } = processListing(THIS_PLATFORM);
  const [program = "", ...args] = command;
  try {
    const printed = execFileSync(program, args, {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PATIENCE_MS,
      maxBuffer: OUTPUT_MAX,
      windowsHide: true,
    });
    const rows = read(printed);
    return rows.some(({ pid }) => pid === process.pid) ? rows : null;
  } catch {
    return null; // not installed, or too slow
  }
}
